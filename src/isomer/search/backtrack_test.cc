#include "isomer/search/backtrack.h"

#include <map>
#include <queue>

#include "isomer/cost/roofline.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/matches.h"
#include "isomer/search/metaflow.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

GraphCost roofline() {
  auto model = std::make_shared<RooflineCost>();
  return [model](const Graph& graph) -> Result<double> {
    ISOMER_TRY(const Metrics metrics, model->metrics(graph));
    return metrics.latency_us;
  };
}

/// The least cost of all graphs that the rules lead to, by building every one.
double least_cost(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost, size_t limit) {
  std::map<uint64_t, Graph> seen{{graph.hash(), graph}};
  std::queue<uint64_t> pending;
  pending.push(graph.hash());
  double best = *cost(graph);
  while (!pending.empty()) {
    const Graph current = seen.at(pending.front());
    pending.pop();
    for (const Match& match : all_matches(current, rules)) {
      auto next = apply_match(current, match);
      if (!next || seen.contains(next->hash())) continue;
      best = std::min(best, *cost(*next));
      pending.push(next->hash());
      seen.emplace(next->hash(), std::move(*next));
      if (seen.size() > limit) throw std::runtime_error("the space is too large for brute force");
    }
  }
  return best;
}

/// Distributing first adds an operator; only then the gate can be factored.
const char* const kSruRules =
    "rule distribute\n(Mul (Sub 1.0 ?f) ?z) => (Sub ?z (Mul ?f ?z)) where real(?f) and shape(?f) == shape(?z)\n"
    "rule associate\n(Add ?p (Sub ?z ?q)) => (Add (Sub ?p ?q) ?z) where real(?p)\n"
    "rule factor\n(Sub (Mul ?f ?c) (Mul ?f ?z)) => (Mul ?f (Sub ?c ?z)) where real(?f)\n";

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

TEST(Backtrack, AlphaOfOneIsGreedy) {
  const Graph graph = parsed(kGate);
  const auto rules = rules_of(kSruRules);
  const auto found = backtrack(graph, rules, roofline(), {.alpha = 1});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->graph.hash(), graph.hash());
  EXPECT_TRUE(found->report.steps.empty());
}

TEST(Backtrack, FindsTheOptimumOfBruteForce) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  std::vector<Rule> few;
  for (const Rule& rule : *rules)
    if (rule.name == "merge-convolutions" || rule.name == "move-relu-below-concat" ||
        rule.name == "move-relu-above-concat" || rule.name == "cancel-concat-split" || rule.name == "factor-add")
      few.push_back(rule);
  ASSERT_EQ(few.size(), 5U);
  const Graph graph = parsed(kBranches);
  const double optimum = least_cost(graph, few, roofline(), 2000);
  const auto all = backtrack(graph, few, roofline(),
                             {.alpha = std::numeric_limits<double>::infinity(), .most_unpaid = 0, .most_growth = 9});
  ASSERT_TRUE(all.has_value());
  EXPECT_DOUBLE_EQ(all->cost_after, optimum);
  const auto found = backtrack(graph, few, roofline(), {.alpha = 1.3});
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->cost_after, optimum);
  EXPECT_LE(found->report.candidates, all->report.candidates);
  EXPECT_LT(found->cost_after, found->cost_before);
  expect_same_meaning(graph, found->graph);
}

/// The gate of kGate n times, side by side.
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

/// Of steps far apart, each pays by itself or not at all: the search grows with the places, not with their
/// combinations.
TEST(Backtrack, StepsThatHaveNotPaidTouchOneAnother) {
  const auto rules = rules_of(kSruRules);
  const double one = backtrack(gates(1), rules, roofline(), {.alpha = 1.5})->cost_after;
  for (const int n : {2, 3, 4}) {
    const Graph graph = gates(n);
    const auto found = backtrack(graph, rules, roofline(), {.alpha = 1.5});
    const auto all = backtrack(graph, rules, roofline(), {.alpha = 1.5, .most_unpaid = 0});
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
  EXPECT_TRUE(backtrack(graph, rules, roofline(), {.alpha = 1.5, .most_unpaid = 1})->report.steps.empty());
  EXPECT_EQ(backtrack(graph, rules, roofline(), {.alpha = 1.5, .most_unpaid = 2})->report.steps.size(), 3U);
}

TEST(Backtrack, BudgetIsAStopReason) {
  const Graph graph = parsed(kBranches);
  const auto rules = builtin_rules();
  const auto found = backtrack(graph, *rules, roofline(), {.alpha = 2, .max_candidates = 5});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report.stop_reason, "candidate budget");
  EXPECT_EQ(found->report.candidates, 5);
}

/// Three blocks x' = tanh(x v + x w), so that splitting has something to do.
Graph blocks() {
  std::string text = "input x0: f32[2,8]\n";
  for (int i = 0; i < 3; ++i)
    text += fmt::format(
        "v{0} = f32[8,8]{{seed {1}}}\nw{0} = f32[8,8]{{seed {2}}}\na{0} = MatMul(x{0}, v{0})\nb{0} = MatMul(x{0}, "
        "w{0})\n"
        "s{0} = Add(a{0}, b{0})\nx{3} = Tanh(s{0})\n",
        i, 2 * i + 1, 2 * i + 2, i + 1);
  return parsed(text + "return x3\n");
}

TEST(Metaflow, PartsAndCutsGiveWhatTheWholeGives) {
  const Graph graph = blocks();
  const auto rules = builtin_rules();
  RooflineCost costs;
  const double before = costs.metrics(graph)->latency_us;
  double whole = 0;
  for (const size_t split : {100, 8, 5, 2}) {
    const auto found = metaflow_search(graph, *rules, costs, {.alpha = 1.1, .split = split, .max_candidates = 2000});
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(verify_graph(found->graph).has_value());
    expect_same_meaning(graph, found->graph);
    const double after = costs.metrics(found->graph)->latency_us;
    EXPECT_LE(after, before);
    double change = 0;
    for (const SearchStep& step : found->report.steps) change += step.delta;
    EXPECT_NEAR(before + change, after, 1e-9) << "split " << split;
    if (split == 100) whole = after;
    if (split >= 5) {
      EXPECT_DOUBLE_EQ(after, whole) << "split " << split;
    }
  }
  EXPECT_LT(whole, before);
}

TEST(Metaflow, SameInputSameResult) {
  const Graph graph = blocks();
  const auto rules = builtin_rules();
  RooflineCost first;
  RooflineCost second;
  const auto a = metaflow_search(graph, *rules, first, {.split = 6, .max_candidates = 300});
  const auto b = metaflow_search(graph, *rules, second, {.split = 6, .max_candidates = 300});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->graph.hash(), b->graph.hash());
  EXPECT_EQ(a->report.candidates, b->report.candidates);
  EXPECT_EQ(a->report.duplicates, b->report.duplicates);
}

}  // namespace
}  // namespace isomer
