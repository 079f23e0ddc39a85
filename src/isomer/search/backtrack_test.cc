#include "isomer/search/backtrack.h"

#include <set>

#include "isomer/rules/builtin.h"
#include "isomer/search/brute_force_testing.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/part_searches.h"

namespace isomer {
namespace {

TEST(Backtrack, TakesNoRoundingErrorForAGain) {
  const Graph graph = parsed(kGate);
  const auto cost_of_others = [&](double cost) {
    return [&graph, cost](const Candidate& candidate) -> Result<double> {
      return candidate.hash() == graph.hash() ? 100 : cost;
    };
  };
  const auto rules = rules_of(kSruRules);
  const auto infinite_at_first = [&graph](const Candidate& candidate) -> Result<double> {
    return candidate.hash() == graph.hash() ? std::numeric_limits<double>::infinity() : 100;
  };
  EXPECT_FALSE(backtrack(graph, rules, infinite_at_first, {})->report.steps.empty());
  EXPECT_TRUE(backtrack(graph, rules, cost_of_others(100 - 1e-13), {})->report.steps.empty());
  EXPECT_FALSE(backtrack(graph, rules, cost_of_others(100 - 1e-6), {})->report.steps.empty());
}

TEST(Backtrack, FindsWhatNeedsARiseInCost) {
  const Graph graph = parsed(kGate);
  const auto rules = rules_of(kSruRules);
  const auto found = backtrack(graph, rules, roofline(), {.alpha = 1.5});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report.steps.size(), 3U);
  EXPECT_EQ(found->report.steps.back().rule, "factor");
  EXPECT_EQ(found->graph.hash(), parsed("input f: f32[1,8]\ninput c: f32[1,8]\ninput z: f32[1,8]\n"
                                        "d = Sub(c, z)\nm = Mul(f, d)\ny = Add(m, z)\nreturn y\n")
                                     .hash());
  EXPECT_LT(found->cost_after, found->cost_before);
  double change = 0;
  for (const SearchStep& step : found->report.steps) change += step.delta;
  EXPECT_NEAR(found->cost_before + change, found->cost_after, 1e-9);
  EXPECT_EQ(found->report.stop_reason, "exhausted");
  expect_same_meaning(graph, found->graph);
}

TEST(Backtrack, ReturnsTheNextBestGraphsToo) {
  const auto rules = branch_rules();
  const Graph graph = parsed(kBranches);
  const auto search = [&](size_t others) {
    return backtrack(graph, rules, unfused_us,
                     {.alpha = std::numeric_limits<double>::infinity(),
                      .max_uphill = 0,
                      .limits = {.budget = {.candidates = 10000}, .max_growth = 9, .others = others}})
        .value();
  };
  EXPECT_TRUE(search(0).others.empty());
  const FoundCandidate all = search(10000);
  ASSERT_GT(all.others.size(), 5);
  std::set<uint64_t> seen{graph.hash(), all.hash()};
  double last = all.cost_after;
  for (const FoundCandidate& other : all.others) {
    EXPECT_TRUE(seen.insert(other.hash()).second);
    EXPECT_EQ(other.cost_after, unfused_us(other).value());
    EXPECT_GE(other.cost_after, last);
    last = other.cost_after;
    double cost = other.cost_before;
    for (const SearchStep& step : other.report.steps) cost += step.delta;
    EXPECT_NEAR(cost, other.cost_after, 1e-9);
    expect_same_meaning(graph, other.graph);
  }
  const FoundCandidate three = search(3);
  EXPECT_EQ(three.hash(), all.hash());
  ASSERT_EQ(three.others.size(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(three.others[i].hash(), all.others[i].hash());
}

TEST(Backtrack, AlphaOfOneIsGreedy) {
  const Graph graph = parsed(kGate);
  const auto rules = rules_of(kSruRules);
  const auto found = backtrack(graph, rules, roofline(), {.alpha = 1});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->graph.hash(), graph.hash());
  EXPECT_TRUE(found->report.steps.empty());
}

TEST(Backtrack, FindsTheOptimumOfBruteForce) {
  const auto few = branch_rules();
  const Graph graph = parsed(kBranches);
  const double optimum = min_cost(graph, few, unfused_us, 2000);
  const BacktrackOptions exhaustive = {.alpha = std::numeric_limits<double>::infinity(),
                                       .max_uphill = 0,
                                       .limits = {.budget = {.candidates = 10000}, .max_growth = 9}};
  const auto all = backtrack(graph, few, unfused_us, exhaustive);
  ASSERT_TRUE(all.has_value());
  EXPECT_DOUBLE_EQ(all->cost_after, optimum);
  EXPECT_DOUBLE_EQ(backtrack(graph, few, roofline(), exhaustive)->cost_after, min_cost(graph, few, roofline(), 2000));
  const auto found = backtrack(graph, few, unfused_us, {.alpha = 1.3});
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->cost_after, optimum);
  EXPECT_LE(found->report.candidates, all->report.candidates);
  EXPECT_LT(found->cost_after, found->cost_before);
  expect_same_meaning(graph, found->graph);
}

/// Returns n copies of the gate of kGate, in parallel.
Graph gates(int n) {
  std::string text = "one = f32[]{1}\n";
  std::string results;
  for (int i = 0; i < n; ++i) {
    text += fmt::format(
        "input f{0}: f32[1,8]\ninput c{0}: f32[1,8]\ninput z{0}: f32[1,8]\np{0} = Mul(f{0}, c{0})\n"
        "n{0} = Sub(one, f{0})\nq{0} = Mul(n{0}, z{0})\ny{0} = Add(p{0}, q{0})\n",
        i);
    results += fmt::format("{}y{}", i > 0 ? ", " : "", i);
  }
  return parsed(text + "return " + results + "\n");
}

/// Of steps far apart, each pays by itself or not at all. So the search should grow with the number of places, not with
/// the number of their combinations.
TEST(Backtrack, StepsThatHaveNotPaidTouchOneAnother) {
  const auto rules = rules_of(kSruRules);
  const double one = backtrack(gates(1), rules, roofline(), {.alpha = 1.5})->cost_after;
  for (const int n : {2, 3, 4}) {
    const Graph graph = gates(n);
    const auto found = backtrack(graph, rules, roofline(), {.alpha = 1.5});
    const auto all = backtrack(graph, rules, roofline(),
                               {.alpha = 1.5, .max_uphill = 0, .limits = {.budget = {.candidates = 10000}}});
    ASSERT_TRUE(found && all);
    EXPECT_NEAR(found->cost_after, n * one, 1e-9);
    EXPECT_NEAR(all->cost_after, n * one, 1e-9);
    EXPECT_EQ(found->report.stop_reason, "exhausted");
    EXPECT_LT(found->report.candidates, all->report.candidates) << n;
  }
}

TEST(Backtrack, GivesUpAfterTooManyStepsThatHaveNotPaid) {
  const Graph graph = parsed(kGate);
  const auto rules = rules_of(kSruRules);
  EXPECT_TRUE(backtrack(graph, rules, roofline(), {.alpha = 1.5, .max_uphill = 1})->report.steps.empty());
  EXPECT_EQ(backtrack(graph, rules, roofline(), {.alpha = 1.5, .max_uphill = 2})->report.steps.size(), 3U);
}

TEST(Backtrack, BudgetIsAStopReason) {
  const Graph graph = parsed(kBranches);
  const auto rules = builtin_rules();
  const auto found = backtrack(graph, *rules, roofline(), {.alpha = 2, .limits = {.budget = {.candidates = 5}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report.stop_reason, "candidate budget");
  EXPECT_EQ(found->report.candidates, 5);
}

TEST(Backtrack, SaysIfGraphsGrewTooLarge) {
  const Graph graph = gates(3);
  const auto rules = rules_of(kSruRules);
  const auto small = backtrack(graph, rules, roofline(), {.alpha = 1.5, .limits = {.max_growth = 0.1}});
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->report.stop_reason, "growth limit");
  EXPECT_TRUE(small->report.steps.empty());
  const auto any = backtrack(graph, rules, roofline(), {.alpha = 1.5, .limits = {.max_growth = 0}});
  ASSERT_TRUE(any.has_value());
  EXPECT_EQ(any->report.stop_reason, "exhausted");
  EXPECT_EQ(any->report.steps.size(), 9U);
}

}  // namespace
}  // namespace isomer
