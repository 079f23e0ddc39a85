#include "isomer/cost/signature.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isomer/engine/ort/planner.h"
#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

/// A graph of one kernel.
struct Single {
  explicit Single(const std::string& text) : graph(parsed(text)) {}

  KernelSigner signer() const { return {graph, plan, types, 0}; }

  const SymbolValues symbols = {};
  const Graph graph;
  const KernelPlan plan = OrtPlanner(16).plan(graph, {}, {}, Deadline::never()).value();
  const ConcreteTypes types{graph, symbols};
};

// A gradient that is scattered into zeros has a kernel of its own, which other elements do not have.
TEST(KernelSigner, KeepsConstantsThatAttributesMake) {
  const auto scattered = [](int value) {
    return Single(
        fmt::format("input i: i64[9]\ninput u: f32[9]\nz = ConstantOfShape() {{shape=[20], value=f32[1]{{{}}}}}\n"
                    "y = ScatterElements(z, i, u) {{axis=0, reduction=\"add\"}}\nreturn y",
                    value));
  };
  const Single zeros = scattered(0), ones = scattered(1);
  EXPECT_NE(zeros.signer().signature(0), ones.signer().signature(0));
  EXPECT_EQ(zeros.signer().signature(0), scattered(0).signer().signature(0));
  const auto run = ones.signer().extract(0);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->graph.hash(), ones.graph.hash()) << print_graph(run->graph);
}

TEST(KernelSigner, MakesUpTheElementsOfWeights) {
  const auto product = [](int seed) {
    return Single(fmt::format("input x: f32[3,4]\nw = f32[4,5]{{seed {}}}\ny = MatMul(x, w)\nreturn y", seed));
  };
  const Single one = product(1);
  EXPECT_EQ(one.signer().signature(0), product(2).signer().signature(0));
  EXPECT_NE(one.signer().extract(0)->graph.hash(), one.graph.hash());
}

}  // namespace
}  // namespace isomer
