// Decisions survive rewrites elsewhere in the graph.

#include <gtest/gtest.h>

#include "isomer/ops/graph_testing.h"
#include "isomer/plan/candidate.h"
#include "isomer/rules/delta.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/matches.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

TEST(CarriedDecisions, StayWithTheirValuesDownstreamOfARewrite) {
  const Graph graph = parsed(R"(
    input x: f32[1,16,8,8]
    w = f32[16,16,1,1]{seed 1}
    a = Relu(x)
    b = Relu(a)
    c = Conv(b, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    d = Sigmoid(c)
    return d)");
  const ValueId conv = graph.operands(graph.producer_node(graph.outputs()[0]))[0];
  const ValueId relu = graph.operands(graph.producer_node(conv))[0];
  const Decisions decisions{.layouts = {{conv, Layout::Plain}, {relu, Layout::Blocked}},
                            .algorithms = {{conv, Algorithm::Direct}}};
  const auto rules = rules_of("rule twice (Relu (Relu ?x)) => (Relu ?x)");
  const auto matches = all_matches(graph, rules);
  ASSERT_EQ(matches.size(), 1);
  const Graph after = apply_match(graph, matches[0]).value();
  const ValueId conv_after = after.operands(after.producer_node(after.outputs()[0]))[0];
  EXPECT_NE(after.value_hash(conv_after), graph.value_hash(conv));
  const Delta delta = delta_of(graph, matches[0]).value();
  const Candidate kept = carried(decisions, delta.value_hashes, after);
  EXPECT_NE(kept.hash(), after.hash());
  const ValueId relu_after = after.operands(after.producer_node(conv_after))[0];
  EXPECT_EQ(kept.decisions, (Decisions{.layouts = {{conv_after, Layout::Plain}, {relu_after, Layout::Blocked}},
                                       .algorithms = {{conv_after, Algorithm::Direct}}}));
}

}  // namespace
}  // namespace isomer
