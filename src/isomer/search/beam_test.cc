#include "isomer/search/beam.h"

#include "isomer/search/brute_force_testing.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/part_searches.h"

namespace isomer {
namespace {

constexpr size_t kUnlimited = 0;

TEST(Beam, UnlimitedItFindsTheOptimumOfBruteForce) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  const auto found = beam_search(graph, rules, roofline(),
                                 {.width = kUnlimited, .limits = {.budget = {.candidates = 10000}, .max_growth = 9}});
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->cost_after, min_cost(graph, rules, roofline(), 2000));
  EXPECT_LT(found->cost_after, found->cost_before);
  EXPECT_EQ(found->report.stop_reason, "exhausted");
  EXPECT_DOUBLE_EQ(*roofline()(found->graph), found->cost_after);
  expect_same_meaning(graph, found->graph);
}

TEST(Beam, UnlimitedItLooksAtAsManyGraphsAsExhaustiveBacktracking) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  const auto beam = beam_search(graph, rules, roofline(),
                                {.width = kUnlimited, .limits = {.budget = {.candidates = 10000}, .max_growth = 9}});
  const auto all = backtrack(graph, rules, roofline(),
                             {.alpha = std::numeric_limits<double>::infinity(),
                              .max_uphill = 0,
                              .limits = {.budget = {.candidates = 10000}, .max_growth = 9}});
  ASSERT_TRUE(beam && all);
  EXPECT_EQ(beam->report.candidates, all->report.candidates);
}

TEST(Beam, CrossesARiseInCost) {
  const Graph graph = parsed(kGate);
  const auto rules = rules_of(kSruRules);
  const auto found = beam_search(graph, rules, roofline(), {.width = 2});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->report.steps.size(), 3U);
  EXPECT_EQ(found->report.steps.back().rule, "factor");
  EXPECT_GT(found->report.steps.front().delta, 0);
  double change = 0;
  for (const SearchStep& step : found->report.steps) change += step.delta;
  EXPECT_NEAR(found->cost_before + change, found->cost_after, 1e-9);
  for (size_t i = 0; i + 1 < found->report.steps.size(); ++i)
    EXPECT_EQ(found->report.steps[i].moves.back().after, found->report.steps[i + 1].moves.front().before);
  EXPECT_EQ(found->report.steps.back().moves.back().after, found->graph.hash());
  expect_same_meaning(graph, found->graph);
}

TEST(Beam, ANarrowBeamLooksAtFewerGraphs) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  int64_t before = 0;
  for (const size_t width : {size_t{1}, size_t{3}, kUnlimited}) {
    const auto found = beam_search(graph, rules, roofline(),
                                   {.width = width, .limits = {.budget = {.candidates = 10000}, .max_growth = 9}});
    ASSERT_TRUE(found.has_value());
    EXPECT_GT(found->report.candidates, before) << width;
    EXPECT_LE(found->cost_after, found->cost_before);
    before = found->report.candidates;
  }
}

TEST(Beam, SameInputSameResult) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  const auto first = beam_search(graph, rules, roofline(), {.width = 3});
  const auto again = beam_search(graph, rules, roofline(), {.width = 3});
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->graph.hash(), again->graph.hash());
  EXPECT_EQ(first->report.candidates, again->report.candidates);
  EXPECT_EQ(first->report.duplicates, again->report.duplicates);
}

TEST(Beam, BudgetsAreStopReasons) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  const auto few = beam_search(graph, rules, roofline(), {.width = 3, .limits = {.budget = {.candidates = 2}}});
  ASSERT_TRUE(few.has_value());
  EXPECT_EQ(few->report.stop_reason, "candidate budget");
  EXPECT_EQ(few->report.candidates, 2);
  const auto late = beam_search(graph, rules, roofline(), {.limits = {.budget = {.end = Deadline::after(0)}}});
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->report.stop_reason, "time budget");
  EXPECT_EQ(late->graph.hash(), graph.hash());
}

TEST(Beam, KeepsOnlyWhatIsAdmitted) {
  AdmitsNothing evaluator;
  const Graph graph = parsed(kGate);
  const auto found =
      beam_search(graph, rules_of(kSruRules), roofline(), {.width = kUnlimited, .limits = {.evaluator = &evaluator}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->graph.hash(), graph.hash());
  EXPECT_TRUE(found->report.steps.empty());
}

TEST(Beam, SearchesParts) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  const auto found = search_by_parts(graph, rules, evaluator,
                                     {.algorithm = "beam", .search = part_search("beam").make({.beam_width = 4})});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report.algorithm, "beam");
  EXPECT_LT(costs.metrics(found->graph)->latency_us, costs.metrics(graph)->latency_us);
  expect_same_meaning(graph, found->graph);
}

}  // namespace
}  // namespace isomer
