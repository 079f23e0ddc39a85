#include "isomer/ops/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/ir/builder.h"
#include "isomer/ops/graph_testing.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

/// Half of a vector's extent, rounded down: a quotient of a symbolic extent is not a polynomial.
Result<std::vector<TensorType>> infer_half(const OpView& view) {
  return std::vector<TensorType>{{view.dtype(0), {floor_div(view.shape(0)[0], 2)}}};
}

const OpDef* find_halve(std::string_view name, std::string_view domain) {
  static const OpDef kHalve{.name = "Halve", .infer = infer_half, .flops = flops_per_element};
  return name == kHalve.name ? &kHalve : find_op(name, domain);
}

Graph with_halve(std::string_view text) { return parsed(text, find_halve); }

TEST(Work, SymbolsTakeTheirValuesAndOneByDefault) {
  const Graph graph = with_halve("input x: f32[N,3]\n y = Relu(x)\n return y");
  const Node& relu = graph.producer_node(graph.outputs()[0]);
  EXPECT_EQ(work_of(graph, relu, extents_of(graph, {})).flops, 3);
  const Work work = work_of(graph, relu, extents_of(graph, {{"N", 5}}));
  EXPECT_EQ(work.flops, 15);
  EXPECT_EQ(work.bytes, 2 * 15 * 4);
}

TEST(Work, ExtentsOfOpaqueNodesFollowTheirNames) {
  const Graph graph = with_halve(
      "input x: f32[N]\n y = Opaque(x) {@op_type=\"Custom\"}: f32[min(4,N),broadcast(2*N,min(3,N)),?0]\n return y");
  EXPECT_THAT(extents_of(graph, {{"N", 5}})[graph.outputs()[0]], Optional(ElementsAre(4, 10, 1)));
  EXPECT_THAT(extents_of(graph, {{"N", 1}})[graph.outputs()[0]], Optional(ElementsAre(1, 2, 1)));
}

TEST(Work, QuotientsOfSymbolsComeOutRight) {
  const Graph graph = with_halve("input x: f32[N]\n a = Halve(x)\n y = Halve(a)\n return y");
  EXPECT_THAT(extents_of(graph, {{"N", 11}})[graph.outputs()[0]], Optional(ElementsAre(2)));
}

TEST(Work, DeclaredTypesOfOpaqueResultsFollowTheSymbols) {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, {Dim::symbol("N")}});
  const ValueId half = *builder.add(*find_halve("Halve", ""), {}, {x});
  const TensorType type = builder.type(half);
  const NodeId opaque =
      builder.opaque(Attrs{{"@op_type", std::string("Fancy")}, {"@domain", std::string("a")}, {"@opset", int64_t{1}}},
                     std::vector{half}, {type, TensorType()});
  const Graph graph = builder.finish(std::vector{builder.at(opaque).result(0), builder.at(opaque).result(1)});
  const Extents extents = extents_of(graph, {{"N", 10}});
  EXPECT_THAT(extents[graph.outputs()[0]], Optional(ElementsAre(5)));
  EXPECT_EQ(extents[graph.outputs()[1]], std::nullopt);
  const Work work = work_of(graph, graph.producer_node(graph.outputs()[0]), extents);
  EXPECT_EQ(work.flops, 0);
  EXPECT_EQ(work.bytes, 2 * 5 * 4);
}

TEST(Work, WeightsCountAsParametersNotAsWork) {
  const Graph graph = with_halve(R"(
    input x: f32[4]
    w = f32[2,2]{seed 1}
    r = Reshape(w) {shape=[4]}
    s = Relu(r)
    y = Relu(x)
    return y, s)");
  const GraphWork work = graph_work(graph, extents_of(graph, {}));
  EXPECT_EQ(work.run.flops, 4);
  EXPECT_EQ(work.run.bytes, 32);
  EXPECT_EQ(work.parameters, 4);
  EXPECT_EQ(work.parameter_bytes, 16);
}

TEST(Work, PeakCountsWhatIsAliveAtOnce) {
  // A chain holds two tensors of 40 bytes at a time. A value that is read later or is an output stays.
  EXPECT_EQ(graph_work(with_halve("input x: f32[10]\n a = Relu(x)\n b = Sigmoid(a)\n y = Relu(b)\n return y"),
                       {{{10}}, {{10}}, {{10}}, {{10}}})
                .peak_activation_bytes,
            80);
  const Graph kept = with_halve("input x: f32[10]\n a = Relu(x)\n b = Sigmoid(a)\n y = Relu(b)\n return y, x");
  EXPECT_EQ(graph_work(kept, extents_of(kept, {})).peak_activation_bytes, 120);
  const Graph joined = with_halve("input x: f32[N]\n a = Halve(x)\n b = Relu(x)\n c = Relu(a)\n return b, c");
  EXPECT_EQ(graph_work(joined, extents_of(joined, {{"N", 10}})).peak_activation_bytes, 40 + 20 + 40);
}

}  // namespace
}  // namespace isomer
