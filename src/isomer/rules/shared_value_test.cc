#include "isomer/rules/shared_value.h"

#include <gtest/gtest.h>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/match.h"
#include "isomer/rules/rule_testing.h"

namespace isomer {
namespace {

/// x is read by a, b and r; r only by c; w by a and c.
constexpr const char* kConvolutions = R"(
  input x: f32[1,4,8,8]
  w = f32[4,4,1,1]{seed 1}
  v = f32[4,4,1,1]{seed 2}
  a = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
  b = Conv(x, v) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
  r = Relu(x)
  c = Conv(r, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
  d = Relu(a)
  e = Relu(b)
  f = Sigmoid(c)
  return d, e, f)";

/// Returns the names of the results of the nodes that may be a first root.
std::string may_begin(const std::string& text) {
  const auto graph = parse_graph(kConvolutions, find_op);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  const Rule pair = rule(text);
  const SharedValue shared(pair);
  std::string out;
  for (NodeId id = 0; id < graph->nodes().size(); ++id)
    if (graph->node(id).op == pair.sources[0].op && shared.may_have_second(*graph, id))
      out += graph->name(graph->node(id).result());
  return out;
}

TEST(SharedValue, NeedsAnotherReader) {
  EXPECT_EQ(may_begin("(Conv ..c ?x ?w), (Conv ..c ?x ?v) => (Conv ..c ?x ?w), (Conv ..c ?x ?v)"), "ab");
  EXPECT_EQ(may_begin("(Conv ..c ?x ?w), (Conv ..c ?y ?w) => (Conv ..c ?x ?w), (Conv ..c ?y ?w)"), "ac");
  EXPECT_EQ(may_begin("(Conv ..c ?x ?w), (Relu ?x) => (Conv ..c ?x ?w), (Relu ?x)"), "ab");
  EXPECT_EQ(may_begin("(Conv ..c ?x ?w), (Tanh ?x) => (Conv ..c ?x ?w), (Tanh ?x)"), "");
}

TEST(SharedValue, IsFoundThroughOperators) {
  EXPECT_EQ(may_begin("(Relu (Conv ..c ?x ?w)), (Relu (Conv ..c ?x ?v))\n"
                      "=> (Relu (Conv ..c ?x ?w)), (Relu (Conv ..c ?x ?v))"),
            "de");
  EXPECT_EQ(may_begin("(Relu (Conv ..c ?x ?w)), (Sigmoid (Conv ..c ?y ?w))\n"
                      "=> (Relu (Conv ..c ?x ?w)), (Sigmoid (Conv ..c ?y ?w))"),
            "d");
}

TEST(SharedValue, IsNotDemandedOfOneRoot) {
  const std::string merge = "(Conv ..c ?x @w)... => (Split axis=1 split=dims(@w, 0) (Conv ..c ?x (Concat axis=0 @w)))";
  EXPECT_EQ(may_begin(merge), "abc") << "one convolution is enough";
  EXPECT_EQ(may_begin(merge + " where len(@w) >= 1"), "abc");
  EXPECT_EQ(may_begin(merge + " where len(@w) >= 2"), "ab");
  EXPECT_EQ(may_begin("(Conv ..c ?x ?w), (Conv ..c ?y ?v) => (Conv ..c ?x ?w), (Conv ..c ?y ?v)"), "abc")
      << "nothing is shared";
}

TEST(SharedValue, AbsentOperandsCanBeShared) {
  const auto graph = parse_graph(R"(
    input x: f32[2,1,4]
    input y: f32[2,1,4]
    w = f32[1,3,4]{seed 1}
    v = f32[1,3,4]{seed 2}
    r = f32[1,3,3]{seed 3}
    s = f32[1,3,3]{seed 4}
    h = f32[1,1,3]{seed 5}
    i = f32[1,1,3]{seed 6}
    a = RNN(x, w, r, _, _, h) {hidden_size=3}
    b = RNN(y, v, s, _, _, i) {hidden_size=3}
    return a, b)",
                                 find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const Rule pair = rule(
      "(RNN ..c ?x ?w ?r ?b ?l ?h), (RNN ..c ?y ?v ?s ?b ?m ?i)\n"
      "=> (RNN ..c ?x ?w ?r ?b ?l ?h), (RNN ..c ?y ?v ?s ?b ?m ?i)");
  EXPECT_TRUE(SharedValue(pair).may_have_second(*graph, graph->producer(graph->outputs()[0])));
  EXPECT_EQ(find_matches(*graph, OpIndex(*graph), pair).size(), 2);
}

/// The position of an operand after one that may take several values depends on the match.
TEST(SharedValue, IsNotLookedForBehindSeveralResults) {
  const auto graph = parse_graph(R"(
    input x: f32[1,1,4,4]
    input y: f32[1,1,4,4]
    w = f32[4,4]{seed 1}
    p = MaxPool(x) {kernel_shape=[1,1], strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    r = Relu(p)
    s = Relu(y)
    a = MatMul(r, w)
    b = MatMul(s, w)
    return a, b)",
                                 find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const Rule pair = rule(
      "(MatMul (Relu (MaxPool ..p ?x)) ?w), (MatMul (Relu ?y) ?w)\n"
      "=> (MatMul (Relu (MaxPool ..p ?x)) ?w), (MatMul (Relu ?y) ?w)");
  EXPECT_EQ(find_matches(*graph, OpIndex(*graph), pair).size(), 1);
}

/// All written rules for several convolutions share the image or the kernel.
TEST(SharedValue, IsThereInWrittenRules) {
  const auto graph = parse_graph(
      "input x: f32[1,4,8,8]\n w = f32[4,4,1,1]{seed 1}\n a = Conv(x, w) {strides=[1,1], dilations=[1,1], "
      "pads=[0,0,0,0]}\n return a",
      find_op);
  ASSERT_TRUE(graph.has_value());
  const NodeId alone = graph->producer(graph->outputs()[0]);
  size_t of_convolutions = 0;
  const std::vector<Rule> rules = builtin_rules().value();
  for (const Rule& each : rules) {
    const bool two = each.sources.size() > 1 || each.sources[0].repeated;
    if (!two || each.sources[0].op->name != "Conv") continue;
    ++of_convolutions;
    EXPECT_FALSE(SharedValue(each).may_have_second(*graph, alone)) << each.name;
  }
  EXPECT_GE(of_convolutions, 6);
}

}  // namespace
}  // namespace isomer
