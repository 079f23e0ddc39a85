#include "isomer/egraph/explain.h"

#include <gtest/gtest.h>

#include "isomer/egraph/testing.h"

namespace isomer {
namespace {

constexpr uint32_t kPlus = 101 | EGraph::kCommutative;

TEST(EGraph, CommutativeNodesAreEqualInBothOrders) {
  EGraph graph;
  const EClassId a = graph.add({1});
  const EClassId b = graph.add({2});
  EXPECT_EQ(graph.add({kPlus, {a, b}}), graph.add({kPlus, {b, a}}));
  EXPECT_NE(graph.add({kF, {a, b}}), graph.add({kF, {b, a}}));
}

TEST(EGraph, ATermKeepsTheChildrenThatItWasAskedWith) {
  EGraph graph;
  const EClassId a = graph.add_term({1});
  const EClassId b = graph.add_term({2});
  const EClassId fa = graph.add_term({kF, {a}});
  graph.merge(a, b, 7);
  graph.rebuild();
  const EClassId fb = graph.add_term({kF, {b}});
  EXPECT_NE(fa, fb);
  EXPECT_EQ(graph.find(fa), graph.find(fb));
  EXPECT_EQ(graph.term(fb).children, std::vector<EClassId>{b});
  EXPECT_EQ(graph.add_term({kF, {b}}), fb);
  EXPECT_EQ(graph.nodes(fa).size(), 1U);
}

std::vector<EGraph::Reason> reasons(const EGraph& graph, const std::vector<EStep>& steps) {
  std::vector<EGraph::Reason> out;
  for (const EStep& step : steps) out.push_back(graph.unions()[step.union_index].reason);
  return out;
}

TEST(Explainer, NamesTheMergesBetweenTwoTerms) {
  EGraph graph;
  const EClassId a = graph.add_term({1});
  const EClassId b = graph.add_term({2});
  const EClassId c = graph.add_term({3});
  graph.merge(b, c, 11);
  graph.merge(a, b, 10);
  graph.rebuild();
  Explainer explainer(graph);
  const auto there = explainer.chain(a, c);
  ASSERT_TRUE(there.has_value());
  EXPECT_EQ(reasons(graph, *there), (std::vector<EGraph::Reason>{10, 11}));
  EXPECT_EQ(there->back().after->hash, explainer.term(c)->hash);
  const auto back = explainer.chain(c, a);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(reasons(graph, *back), (std::vector<EGraph::Reason>{11, 10}));
  EXPECT_FALSE(back->front().forward);
}

TEST(Explainer, ExplainsCongruenceByTheChildren) {
  EGraph graph;
  const EClassId a = graph.add_term({1});
  const EClassId b = graph.add_term({2});
  const EClassId c = graph.add_term({3});
  const EClassId left = graph.add_term({kF, {graph.add_term({kPlus, {a, b}})}});
  const EClassId right = graph.add_term({kF, {graph.add_term({kPlus, {c, a}})}});
  graph.merge(b, c, 5);
  graph.rebuild();
  ASSERT_EQ(graph.find(left), graph.find(right));
  Explainer explainer(graph);
  const auto steps = explainer.chain(left, right);
  ASSERT_TRUE(steps.has_value());
  EXPECT_EQ(reasons(graph, *steps), std::vector<EGraph::Reason>{5});
  EXPECT_EQ(steps->back().after->hash, explainer.term(right)->hash);
}

// f^5(x) = x and f^3(x) = x imply f(x) = x: every step of the chain uses one of the two.
TEST(Explainer, ExplainsConclusionsFromConclusions) {
  EGraph graph;
  const EClassId x = graph.add_term({1});
  std::vector<EClassId> power{x};
  for (int i = 0; i < 5; ++i) power.push_back(graph.add_term({kF, {power.back()}}));
  graph.merge(power[5], x, 5);
  graph.merge(power[3], x, 3);
  graph.rebuild();
  Explainer explainer(graph);
  const auto steps = explainer.chain(power[1], x);
  ASSERT_TRUE(steps.has_value());
  // The terms are powers of f: a step by f^n = 1 removes or adds n of them.
  const auto depth = [](const ETerm* term) {
    int n = 0;
    for (; !term->children.empty(); term = term->children[0].get()) ++n;
    return n;
  };
  int at = 1;
  for (const EStep& step : *steps) {
    const auto by = static_cast<int>(graph.unions()[step.union_index].reason);
    EXPECT_EQ(depth(step.after.get()), step.forward ? at - by : at + by);
    at = depth(step.after.get());
  }
  EXPECT_EQ(at, 0);
}

TEST(Explainer, UnequalTermsHaveNoChain) {
  EGraph graph;
  const EClassId a = graph.add_term({1});
  const EClassId b = graph.add_term({2});
  EXPECT_FALSE(Explainer(graph).chain(a, b).has_value());
}

TEST(Explainer, GivesUpBeyondTheMostSteps) {
  EGraph graph;
  const EClassId first = graph.add_term({1});
  EClassId last = first;
  for (uint32_t i = 2; i < 10; ++i) {
    const EClassId next = graph.add_term({i});
    graph.merge(last, next, i);
    last = next;
  }
  graph.rebuild();
  EXPECT_TRUE(Explainer(graph, 8).chain(first, last).has_value());
  EXPECT_FALSE(Explainer(graph, 7).chain(first, last).has_value());
}

}  // namespace
}  // namespace isomer
