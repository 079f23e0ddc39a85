#include "isomer/plan/bound.h"

#include <gtest/gtest.h>

#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

TEST(Bound, ExtentsFollowFromTheInputs) {
  const Graph graph = parsed(
      "input x: f32[N,4]\ninput k: f32[4]\nw = f32[4,4]{seed 1}\na = MatMul(x, w)\nb = Add(a, k)\nreturn "
      "b");
  Candidate candidate(graph);
  const ValueId b = graph.outputs()[0];
  candidate.decisions.teams[b] = Team::All;
  const std::vector<TensorType> types{TensorType(DType::Float, Shape{Dim(6), Dim(4)}), graph.type(graph.inputs()[1])};
  const auto bound = with_input_types(candidate, types);
  ASSERT_TRUE(bound.has_value()) << bound.error().message;
  const Graph& now = bound->candidate.graph;
  EXPECT_EQ(now.type(now.outputs()[0]), types[0]);
  EXPECT_EQ(bound->images[b], now.outputs()[0]);
  EXPECT_EQ(now.producer_node(bound->images[graph.operands(graph.producer_node(b))[0]]).op->name, "MatMul");
  EXPECT_EQ(bound->images[graph.inputs()[0]], now.inputs()[0]);
  EXPECT_EQ(bound->candidate.decisions.team(now.outputs()[0]), Team::All);
  const std::vector<TensorType> same{graph.type(graph.inputs()[0]), graph.type(graph.inputs()[1])};
  EXPECT_EQ(with_input_types(candidate, same)->candidate.hash(), candidate.hash());
}

TEST(Bound, TypesThatAnOperatorDoesNotTakeAreAnError) {
  const Graph graph = parsed("input x: f32[N,M]\nw = f32[4,4]{seed 1}\na = MatMul(x, w)\nreturn a");
  const std::vector<TensorType> types{TensorType(DType::Float, Shape{Dim(6), Dim(5)})};
  EXPECT_FALSE(with_input_types(graph, types).has_value());
}

}  // namespace
}  // namespace isomer
