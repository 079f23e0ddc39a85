#include "isomer/rules/dependence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/base/rng.h"
#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// A graph of sums of random earlier values.
Graph random_sums(uint64_t seed, int count) {
  Rng rng(seed);
  GraphBuilder builder;
  std::vector<ValueId> values;
  for (int i = 0; i < 4; ++i) values.push_back(builder.input({DType::Float, {2}}));
  for (int i = 0; i < count; ++i)
    values.push_back(
        builder.add(*find_op("Add"), {}, {values[rng.below(values.size())], values[rng.below(values.size())]}).value());
  return builder.finish(values);
}

/// Whether a node is in the group or depends on it, by visiting all nodes above it.
bool depends(const Graph& graph, const std::vector<NodeId>& group, NodeId id) {
  if (std::ranges::find(group, id) != group.end()) return true;
  return std::ranges::any_of(graph.operands(graph.node(id)),
                             [&](ValueId operand) { return depends(graph, group, graph.producer(operand)); });
}

TEST(Dependence, AgreesWithLookingAtEverythingAbove) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Graph graph = random_sums(seed, 16);
    const auto nodes = static_cast<NodeId>(graph.nodes().size());
    Dependence dependence(graph);
    Rng rng(seed);
    for (NodeId first = 0; first < nodes; ++first) {
      dependence.begin(first);
      std::vector<NodeId> group{first};
      for (NodeId id = first + 1; id < nodes; ++id) {
        for (const ValueId operand : graph.operands(graph.node(id)))
          EXPECT_EQ(dependence.on_group(operand), depends(graph, group, graph.producer(operand)));
        if (rng.below(3) == 0 && dependence.add(id)) group.push_back(id);
      }
    }
  }
}

TEST(Dependence, WhatWasFoundIndependentStaysSo) {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, {2}});
  const ValueId first = builder.add(*find_op("Relu"), {}, {x}).value();
  const ValueId second = builder.add(*find_op("Abs"), {}, {x}).value();
  const ValueId last = builder.add(*find_op("Neg"), {}, {second}).value();
  const Graph graph = builder.finish(std::vector{first, last});
  Dependence dependence(graph);
  dependence.begin(1);
  EXPECT_FALSE(dependence.on_group(graph.outputs()[1]));
  EXPECT_FALSE(dependence.add(2)) << "the value depends on it";
}

TEST(Dependence, LooksAtEachNodeOnceForAGroup) {
  GraphBuilder builder;
  constexpr int kLength = 20000;
  ValueId x = builder.input({DType::Float, {2}});
  const ValueId first = builder.add(*find_op("Abs"), {}, {x}).value();
  for (int i = 0; i < kLength; ++i)
    x = builder.add(*find_op("Neg"), {}, {builder.add(*find_op("Relu"), {}, {x}).value()}).value();
  const Graph graph = builder.finish(std::vector{first, x});
  Dependence dependence(graph);
  dependence.begin(graph.producer(graph.outputs()[0]));
  for (ValueId value = 0; value < graph.num_values(); ++value) (void)dependence.on_group(value);
  EXPECT_LE(dependence.visited(), static_cast<int64_t>(graph.nodes().size()));
}

}  // namespace
}  // namespace isomer
