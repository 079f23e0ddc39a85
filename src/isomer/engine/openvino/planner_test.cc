#include "isomer/engine/openvino/planner.h"

#include <gtest/gtest.h>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Graph parsed_graph(const std::string& text) { return parse_graph(text, find_op).value(); }

/// Returns the node that makes the value with that name.
NodeId maker(const Graph& graph, std::string_view name) {
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (graph.name(value) == name) return graph.producer(value);
  throw std::runtime_error("no value of that name");
}

/// Returns "a+b | c": the kernels by the names of their results.
std::string kernels_of(const Graph& graph, const KernelPlan& plan) {
  std::string out;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (i > 0) out += " | ";
    for (const NodeId id : plan.kernel(i)) {
      if (id != plan.kernel(i).front()) out += '+';
      out += graph.name(graph.node(id).result());
    }
  }
  return out;
}

/// Returns the kernels if OpenVINO runs together the nodes that make these values.
std::string fused(const std::string& text, const std::vector<std::vector<std::string>>& fusions) {
  const Graph graph = parsed_graph(text);
  Fusions numbers;
  for (const auto& names : fusions) {
    auto& nodes = numbers.emplace_back();
    for (const std::string& name : names) nodes.push_back(maker(graph, name));
  }
  return kernels_of(graph, plan_of_fusions(graph, numbers));
}

constexpr const char* kChain = "input x: f32[4]\n a = Relu(x)\n b = Neg(a)\n c = Abs(b)\n d = Tanh(c)\n return d";

TEST(OpenvinoPlanner, AFusionIsAKernel) {
  EXPECT_EQ(fused(kChain, {{"a", "b"}, {"c", "d"}}), "a+b | c+d");
  EXPECT_EQ(fused(kChain, {{"a", "b", "c", "d"}}), "a+b+c+d");
  EXPECT_EQ(fused(kChain, {{"a"}, {"b"}, {"c"}, {"d"}}), "a | b | c | d");
}

TEST(OpenvinoPlanner, WhatHasNoNameJoinsItsOnlyReader) {
  EXPECT_EQ(fused(kChain, {{"b"}, {"d"}}), "a+b | c+d");
  EXPECT_EQ(fused(kChain, {{"b"}}), "a+b | c+d") << "nothing reads d";
  EXPECT_EQ(fused("input x: f32[4]\n a = Relu(x)\n b = Neg(a)\n c = Abs(a)\n return b, c", {{"b"}, {"c"}}),
            "a | b | c");
  EXPECT_EQ(fused("input x: f32[4]\n a = Relu(x)\n b = Neg(a)\n return a, b", {{"b"}}), "a | b") << "a is an output";
}

TEST(OpenvinoPlanner, OnlyTheLastNodeOfAKernelIsReadOutside) {
  const std::string two = "input x: f32[4]\n a = Relu(x)\n b = Neg(a)\n c = Abs(b)\n d = Tanh(b)\n return c, d";
  EXPECT_EQ(fused(two, {{"a", "b", "c"}, {"d"}}), "a+b | c | d");
  EXPECT_EQ(fused(two, {{"a", "b", "c", "d"}}), "a+b | c | d") << "two results";
  const std::string around = "input x: f32[4]\n a = Relu(x)\n b = Neg(a)\n c = Add(a, b)\n return c";
  EXPECT_EQ(fused(around, {{"a", "c"}, {"b"}}), "a | b | c") << "b lies between";
  EXPECT_EQ(fused(around, {{"a", "b", "c"}}), "a+b+c");
}

TEST(OpenvinoPlanner, WeightsAreInNoKernel) {
  const std::string text = "input x: f32[4]\n w = f32[4]{seed 1}\n v = Neg(w)\n a = Mul(x, v)\n b = Relu(a)\n return b";
  EXPECT_EQ(fused(text, {{"v", "a", "b"}}), "a+b");
}

TEST(OpenvinoPlanner, EqualGraphsAreAskedAboutOnce) {
  const Graph graph = parsed_graph("input x: f32[4]\n a = Relu(x)\n b = Neg(x)\n c = Add(a, b)\n return c");
  const Graph same = parsed_graph("input x: f32[4]\n b = Neg(x)\n a = Relu(x)\n c = Add(a, b)\n return c");
  ASSERT_EQ(graph.hash(), same.hash());
  ASSERT_NE(maker(graph, "a"), maker(same, "a"));
  int asked = 0;
  const OpenvinoPlanner planner([&](const Graph& one) -> Result<Fusions> {
    ++asked;
    return Fusions{{maker(one, "a"), maker(one, "c")}, {maker(one, "b")}};
  });
  EXPECT_EQ(kernels_of(graph, planner.plan(graph).value()), "b | a+c");
  EXPECT_EQ(kernels_of(same, planner.plan(same).value()), "b | a+c");
  EXPECT_EQ(asked, 1);
}

TEST(OpenvinoPlanner, WithoutAnAnswerEveryNodeIsAKernel) {
  const Graph graph = parsed_graph(kChain);
  const OpenvinoPlanner planner([](const Graph&) -> Result<Fusions> { return fail("not today"); });
  EXPECT_EQ(kernels_of(graph, planner.plan(graph).value()), "a | b | c | d");
}

}  // namespace
}  // namespace isomer
