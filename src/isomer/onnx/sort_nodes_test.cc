#include "isomer/onnx/sort_nodes.h"

#include <algorithm>

#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

using test::load;
using test::ProtoModel;
using testing::ElementsAre;

/// The first result of each node, in order.
std::vector<std::string> order_of(const NodeProtos& nodes) {
  std::vector<std::string> names;
  for (const auto& node : nodes) names.push_back(node.output(0));
  return names;
}

/// Adds a subgraph to a node and returns it.
onnx::GraphProto& graph_inside(onnx::NodeProto* node) {
  auto* attr = node->add_attribute();
  attr->set_name("body");
  attr->set_type(onnx::AttributeProto::GRAPH);
  return *attr->mutable_g();
}

TEST(SortNodes, SortedNodesStayWhereTheyAre) {
  ProtoModel model;
  model.node("A", {"x"}, {"a"});
  model.node("B", {"x"}, {"b"});
  model.node("C", {"b", "a", ""}, {"c", ""});
  ASSERT_TRUE(sort_nodes(*model.graph().mutable_node()));
  EXPECT_THAT(order_of(model.graph().node()), ElementsAre("a", "b", "c"));
}

TEST(SortNodes, ANodeMovesInFrontOfItsFirstReader) {
  ProtoModel model;
  model.node("A", {"x"}, {"a"});
  model.node("B", {"cast"}, {"b"});
  model.node("C", {"b", "cast"}, {"c"});
  model.node("Cast", {"x"}, {"cast"});
  ASSERT_TRUE(sort_nodes(*model.graph().mutable_node()));
  EXPECT_THAT(order_of(model.graph().node()), ElementsAre("a", "cast", "b", "c"));
}

TEST(SortNodes, WhatASubgraphUsesComesFirst) {
  ProtoModel model;
  onnx::GraphProto& outer = graph_inside(model.node("Loop", {}, {"y"}));
  onnx::GraphProto& inner = graph_inside(ProtoModel::add(outer, "If", {}, {"i"}));
  ProtoModel::add(inner, "Relu", {"late"}, {"r"});
  model.node("Relu", {"x"}, {"late"});
  ASSERT_TRUE(sort_nodes(*model.graph().mutable_node()));
  EXPECT_THAT(order_of(model.graph().node()), ElementsAre("late", "y"));
}

TEST(SortNodes, SubgraphsAndFunctionsAreSortedToo) {
  ProtoModel model;
  model.input("x", {"2"});
  onnx::NodeProto* outer = model.node("If", {"x"}, {"y"});
  onnx::GraphProto& inner = graph_inside(outer);
  ProtoModel::add(inner, "Relu", {"b"}, {"c"});
  ProtoModel::add(inner, "Relu", {"x"}, {"b"});
  model.output("y");
  auto* function = model.proto.add_functions();
  function->set_name("f");
  function->set_domain("own");
  for (const auto& [from, to] : {std::pair{"b", "c"}, std::pair{"x", "b"}}) {
    auto* node = function->add_node();
    node->set_op_type("Relu");
    node->add_input(from);
    node->add_output(to);
  }
  const auto read = load(model);
  ASSERT_TRUE(read) << read.error().message;
  const auto out = test::exported(*read);
  EXPECT_THAT(order_of(out.graph().node(0).attribute(0).g().node()), ElementsAre("b", "c"));
  EXPECT_THAT(order_of(out.functions(0).node()), ElementsAre("b", "c"));
}

TEST(SortNodes, ALongChainBackwardsIsSorted) {
  constexpr int kLength = 200000;  // too deep for recursion
  ProtoModel model;
  for (int i = kLength; i > 0; --i) model.node("Relu", {std::to_string(i - 1)}, {std::to_string(i)});
  ASSERT_TRUE(sort_nodes(*model.graph().mutable_node()));
  EXPECT_EQ(model.graph().node(0).output(0), "1");
  EXPECT_EQ(model.graph().node(kLength - 1).output(0), std::to_string(kLength));
}

TEST(SortNodes, ACycleIsNamedByItsNodes) {
  ProtoModel model;
  model.node("Relu", {"q"}, {"p"});
  model.node("Relu", {"r", "s"}, {"q"});
  model.node("Relu", {"p"}, {"r"})->set_name("n\n");
  model.node("Relu", {"q"}, {"s"});
  const auto status = sort_nodes(*model.graph().mutable_node());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "the graph is cyclic: node 'p' (Relu) uses node 'q' (Relu), which uses node 'n\\n' (Relu), which uses node "
            "'p' (Relu)");
}

TEST(SortNodes, ACycleInsideOfANodeNamesTheNode) {
  ProtoModel model;
  onnx::GraphProto& inner = graph_inside(model.node("If", {}, {"y"}));
  ProtoModel::add(inner, "Relu", {"a"}, {"a"});
  const auto status = sort_nodes(*model.graph().mutable_node());
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::StartsWith("node 'y' (If): the graph is cyclic: node 'a' (Relu)"));
}

TEST(SortNodes, ALongCycleIsCutShort) {
  ProtoModel model;
  for (int i = 0; i < 100; ++i) model.node("Relu", {std::to_string((i + 1) % 100)}, {std::to_string(i)});
  const auto status = sort_nodes(*model.graph().mutable_node());
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("node '7' (Relu), which uses 92 more nodes, which uses"));
}

}  // namespace
}  // namespace isomer
