// Plans with divided operators (plan/divisions.h) compute what the graph does.

#include "isomer/plan/divisions.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

std::vector<PlanKernel> divided_kernels(const Graph& graph, const Decisions& decisions, int streams) {
  return expect_as_reference(graph, inputs_of(graph), {.streams = streams, .tune = false, .decisions = decisions});
}

constexpr const char* kBatch = R"(
  input x: f32[4,16,10,10]
  w = f32[32,16,3,3]{seed 1}
  v = f32[32,32,1,1]{seed 2}
  u = f32[32,24]{seed 3}
  a = Conv(x, w) {pads=[1,1,1,1]}
  b = Relu(a)
  c = MaxPool(b) {kernel_shape=[2,2], strides=[2,2]}
  d = Conv(c, v)
  e = Add(d, c)
  f = GlobalAveragePool(e)
  g = Reshape(f) {shape=[4,32]}
  h = MatMul(g, u)
  i = Softmax(h) {axis=-1}
  return i, e)";

TEST(Divisions, DivideTheBatchThroughANetwork) {
  const Graph graph = graph_of(kBatch);
  const auto convolutions = [&](const Decisions& decisions, int streams) {
    return std::ranges::count_if(divided_kernels(graph, decisions, streams),
                                 [](const PlanKernel& kernel) { return kernel.name.starts_with("Conv"); });
  };
  const Decisions batch = divided_everywhere(graph, Division::Axis0, 2).decisions;
  EXPECT_EQ(convolutions({}, 2), 2);
  EXPECT_EQ(convolutions(batch, 2), 4);
  EXPECT_EQ(convolutions(batch, 1), 2) << "one stream divides nothing";
  for (const PlanKernel& kernel : divided_kernels(graph, batch, 2)) EXPECT_EQ(kernel.threads, 1) << kernel.name;
  const Decisions channels = divided_everywhere(graph, Division::Axis1, 2).decisions;
  EXPECT_EQ(convolutions(channels, 2), 4);
}

TEST(Divisions, ChangeNoResult) {
  constexpr const char* kHalfTwice =
      "Slice({0}) {{axes=[1], starts=[0], ends=[4], steps=[1]}}\nv{1} = Concat(q{1}, q{1}) {{axis=1}}";
  Rng rng(1);
  size_t effective = 0;
  for (int round = 0; round < 150; ++round) {
    std::string text =
        "input v0: f32[5,8,6,8]\nw = f32[8,8,1,1]{seed 1}\nu = f32[5,8,6,8]{seed 2}\n"
        "m = f32[8,8]{seed 3}\nt = f32[5,8,8,8]{seed 5}\ng = f32[8,4,1,1]{seed 6}\nl = f32[8,6,8]{seed 7}\ns = "
        "f32[8]{seed 4}\n";
    constexpr uint64_t kNodes = 12;
    for (uint64_t i = 1; i <= kNodes; ++i) {
      const auto before = [&] { return rng.below(8) == 0 ? std::string("u") : fmt::format("v{}", rng.below(i)); };
      const char* const forms[] = {"Conv({0}, w)",
                                   "Conv({0}, w, s)",
                                   "Sigmoid({0})",
                                   "Add({0}, {1})",
                                   "Mul({0}, s)",
                                   "BatchNormalization({0}, s, s, s, s) {{epsilon=1.0}}",
                                   "MatMul({0}, m)",
                                   "MatMul({0}, t)",
                                   "Conv({0}, g) {{group=2}}",
                                   "LayerNormalization({0}, l) {{axis=-1}}",
                                   "LRN({0}) {{size=3}}",
                                   "InstanceNormalization({0}, s, s)",
                                   "Softmax({0}) {{axis=-1}}",
                                   "LayerNormalization({0}, s) {{axis=-1}}",
                                   "MaxPool({0}) {{kernel_shape=[3,3], pads=[1,1,1,1]}}",
                                   "Relu({0})"};
      text += fmt::format("v{} = {}\n", i,
                          fmt::format(fmt::runtime(forms[rng.below(std::size(forms))]), before(), before()));
      if (rng.below(5) == 0) {  // another shape, and back
        const char* const moves[] = {"Transpose({0}) {{perm=[2,0,3,1]}}\nv{1} = Transpose(q{1}) {{perm=[1,3,0,2]}}",
                                     "Reshape({0}) {{shape=[0,8,-1]}}\nv{1} = Reshape(q{1}) {{shape=[5,8,6,8]}}",
                                     "ReduceMean({0}) {{axes=[3], keepdims=1}}\nv{1} = Add(q{1}, u)", kHalfTwice};
        ++i;
        text += fmt::format("q{} = {}\n", i, fmt::format(fmt::runtime(moves[rng.below(4)]), before(), i));
      }
      if (i >= kNodes) {
        text += fmt::format("return v{}, v{}", i, i - 1);
      }
    }
    SCOPED_TRACE(text);
    const Graph graph = graph_of(text);
    Decisions decisions;
    const bool mixed = rng.below(2) == 0;
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (rng.below(4) != 0) decisions.divisions.emplace(value, static_cast<Division>(mixed ? rng.below(4) : 0));
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (rng.below(8) == 0) decisions.computations.emplace(value, Computation::Twice);
    const int streams = 2;
    const auto count = [&](const Decisions& what) { return divided_kernels(graph, what, streams).size(); };
    effective += count(decisions) > count({}) ? 1 : 0;
  }
  EXPECT_GT(effective, 100U);
}

}  // namespace
}  // namespace isomer::onednn
