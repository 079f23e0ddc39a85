#include "isomer/search/ocggs.h"

#include <algorithm>
#include <ranges>

#include "isomer/eval/random_graph_testing.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/match_target.h"
#include "isomer/search/brute_force_testing.h"
#include "isomer/search/sequences.h"
#include "isomer/search/sequences_testing.h"

namespace isomer {
namespace {

std::vector<std::string> rules_applied(const SearchReport& report) {
  std::vector<std::string> names;
  for (const SearchStep& step : report.steps) names.push_back(step.rule);
  return names;
}

/// Expects that all exact searches reach the same graphs, and return the same one by the same steps. Returns the number
/// of graphs; 0 if there are too many to compare.
size_t compare_exact_searches(const Graph& graph, std::span<const Rule> rules, SequenceOptions options) {
  constexpr int64_t kTooMany = 600;
  options.limits.budget.candidates = kTooMany;
  const SequenceOutcome all = outcome_of(enumerate_sequences, graph, rules, hash_cost(), options);
  const std::string& ended = all.found.report.stop_reason;
  if (ended != "exhausted" && ended != "growth limit") return 0;
  options.limits.budget.candidates = 2 * kTooMany;
  for (const auto& search : {prune_search, dpp_search}) {
    const SequenceOutcome some = outcome_of(search, graph, rules, hash_cost(), options);
    EXPECT_EQ(some.reached, all.reached) << some.found.report.algorithm;
    EXPECT_EQ(some.found.graph.hash(), all.found.graph.hash()) << some.found.report.algorithm;
    EXPECT_EQ(some.found.cost_after, all.found.cost_after) << some.found.report.algorithm;
    EXPECT_EQ(rules_applied(some.found.report), rules_applied(all.found.report)) << some.found.report.algorithm;
    EXPECT_EQ(some.found.report.stop_reason, ended);
    EXPECT_EQ(some.found.report.candidates, all.found.report.candidates);
    EXPECT_LE(some.found.report.duplicates, all.found.report.duplicates);
  }
  return all.reached.size();
}

TEST(Ocggs, ExactSearchesReachWhatBruteForceReaches) {
  const auto rules = rules_of(kSmallSteps);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Graph graph = RandomMatrixGraph(seed, 6).build();
    const auto all = reachable(graph, rules, 2);
    double least = *hash_cost()(graph);
    for (const auto& [hash, reached] : all) least = std::min(least, *hash_cost()(reached));
    for (const auto& search : {enumerate_sequences, prune_search, dpp_search}) {
      const SequenceOutcome outcome = outcome_of(search, graph, rules, hash_cost(), up_to(2));
      EXPECT_TRUE(std::ranges::equal(outcome.reached, all | std::views::keys))
          << outcome.found.report.algorithm << ", seed " << seed << "\n"
          << print_graph(graph);
      EXPECT_EQ(outcome.found.cost_after, least) << outcome.found.report.algorithm << ", seed " << seed;
    }
  }
}

TEST(Ocggs, ExactSearchesAgreeOnSmallSteps) {
  const auto rules = rules_of(kSmallSteps);
  size_t compared = 0;
  size_t graphs = 0;
  for (uint64_t seed = 100; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    for (const int length : {3, 5}) {
      const size_t reached =
          compare_exact_searches(RandomMatrixGraph(seed, 7 + static_cast<int>(seed % 5)).build(), rules, up_to(length));
      compared += reached > 1 ? 1 : 0;
      graphs += reached;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 200U);
  EXPECT_GT(graphs, 5000U);
}

TEST(Ocggs, ExactSearchesAgreeOnTheBuiltInRules) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  size_t compared = 0;
  for (uint64_t seed = 1000; seed < 1200; ++seed) {
    SCOPED_TRACE(seed);
    compared += compare_exact_searches(RandomMatrixGraph(seed, 4).build(), *rules, up_to(2)) > 1 ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 50U);
  EXPECT_GT(compare_exact_searches(parsed(kBranches), branch_rules(), up_to(3)), 10U);
}

/// Refuses graphs that contain an operator.
class Without : public Evaluator {
 public:
  explicit Without(std::string name) : name_(std::move(name)) {}
  bool admits(const Graph& graph) override {
    return std::ranges::none_of(graph.nodes(), [&](const Node& node) { return node.op->name == name_; });
  }
  Result<Interval> measure(const Candidate&, const Candidate&) override { return fail("nothing is measured"); }

 private:
  const std::string name_;
};

/// If an order of substitutions leads through a graph that is refused, another order must be tried.
TEST(Ocggs, ExactSearchesAgreeWhenGraphsAreRefused) {
  const auto rules = rules_of(kSmallSteps);
  size_t compared = 0;
  for (const char* name : {"Split", "Neg", "Add"}) {
    Without evaluator(name);
    SequenceOptions options = up_to(3);
    options.limits.evaluator = &evaluator;
    for (uint64_t seed = 400; seed < 460; ++seed) {
      SCOPED_TRACE(seed);
      compared += compare_exact_searches(RandomMatrixGraph(seed, 7).build(), rules, options) > 1 ? 1 : 0;
    }
  }
  for (const double growth : {0.7, 1.0, 1.2}) {
    SequenceOptions options = up_to(3);
    options.limits.max_growth = growth;
    for (uint64_t seed = 500; seed < 560; ++seed) {
      SCOPED_TRACE(seed);
      compared += compare_exact_searches(RandomMatrixGraph(seed, 8).build(), rules, options) > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 20U);
}

/// Four negations of negations, of different inputs, in one sum.
Graph independent_places() {
  std::string text;
  for (int i = 0; i < 4; ++i) text += fmt::format("input x{0}: f32[2,2]\nn{0} = Neg(x{0})\nm{0} = Neg(n{0})\n", i);
  return parsed(text + "a = MatMul(m0, m1)\nb = MatMul(m2, m3)\nc = MatMul(a, b)\nreturn c\n");
}

TEST(Ocggs, EachSetOfIndependentSubstitutionsIsReachedOnce) {
  const auto rules = rules_of("rule cancel-negations\n(Neg (Neg ?x)) => ?x");
  const Graph graph = independent_places();
  const SequenceOutcome all = outcome_of(enumerate_sequences, graph, rules, hash_cost(), up_to(10));
  EXPECT_EQ(all.reached.size(), 16U);
  EXPECT_EQ(all.found.report.duplicates, 4 * 8 - 15);
  for (const auto& search : {prune_search, dpp_search}) {
    const SequenceOutcome some = outcome_of(search, graph, rules, hash_cost(), up_to(10));
    EXPECT_EQ(some.reached, all.reached);
    EXPECT_EQ(some.found.report.duplicates, 0);
  }
}

/// y is T(T(x)), so that the products read different values until y is x.
constexpr std::string_view kHandedThrough = R"(
  input x: f32[2,2]
  w = f32[2,2]{seed 1}
  v = f32[2,2]{seed 2}
  t = Transpose(x) {perm=[1,0]}
  y = Transpose(t) {perm=[1,0]}
  a = MatMul(x, w)
  b = MatMul(y, v)
  return a, b)";

TEST(Ocggs, ExactSearchesFindWhatAHandedThroughOperandEnables) {
  const auto rules = rules_of(kSmallSteps);
  const Graph graph = parsed(kHandedThrough);
  const Graph merged = parsed(R"(
    input x: f32[2,2]
    w = f32[2,2]{seed 1}
    v = f32[2,2]{seed 2}
    c = Concat(w, v) {axis=1}
    p = MatMul(x, c)
    a, b = Split(p) {axis=1, split=[2,2]}
    return a, b)");
  for (const auto& search : {enumerate_sequences, prune_search, dpp_search})
    EXPECT_TRUE(outcome_of(search, graph, rules, hash_cost(), up_to(2)).reached.contains(merged.hash()));
}

TEST(Ocggs, ExactSearchesAgreeWhereAnOperandIsDropped) {
  const auto rules = rules_of(kSmallSteps);
  for (const int length : {1, 2, 3, 4})
    EXPECT_GT(compare_exact_searches(parsed(kDroppedOperand), rules, up_to(length)), 3U);
}

/// Merging a with b is free of cycles, and so is merging c with d, but c reads a, and b reads d.
TEST(Ocggs, ExactSearchesAgreeWhereTwoMergesCloseACycle) {
  const auto rules = rules_of(kSmallSteps);
  const Graph graph = parsed(R"(
    input x: f32[2,2]
    input z: f32[2,2]
    w = f32[2,2]{seed 1}
    v = f32[2,2]{seed 2}
    d = MatMul(z, v)
    a = MatMul(x, w)
    b = MatMul(x, d)
    c = MatMul(z, a)
    return b, c)");
  EXPECT_GT(compare_exact_searches(graph, rules, up_to(1)), 2U);
  EXPECT_GT(compare_exact_searches(graph, rules, up_to(4)), 2U);
}

TEST(Ocggs, TheResultIsASequenceThatLeadsToTheGraph) {
  const Graph graph = parsed(kGate);
  const auto rules = rules_of(kSruRules);
  for (const auto& search : {enumerate_sequences, prune_search, dpp_search}) {
    const auto found = search(graph, rules, roofline(), up_to(3));
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->report.steps.size(), 3U);
    EXPECT_EQ(found->report.steps.back().rule, "factor");
    EXPECT_EQ(found->report.steps.front().moves.front().before, graph.hash());
    EXPECT_EQ(found->report.steps.back().moves.back().after, found->graph.hash());
    EXPECT_DOUBLE_EQ(*roofline()(found->graph), found->cost_after);
    expect_same_meaning(graph, found->graph);
    EXPECT_TRUE(search(graph, rules, roofline(), up_to(2))->report.steps.empty()) << "two substitutions are too few";
    EXPECT_TRUE(search(graph, rules, roofline(), up_to(0))->report.steps.empty());
  }
}

/// Takes the cheapest successor as long as it is cheaper.
double greedy_cost(Graph graph, std::span<const Rule> rules, const CandidateCost& cost, int max_length) {
  double least = *cost(graph);
  for (int i = 0; i < max_length; ++i) {
    Graph best = graph;
    for (const Match& match : all_matches(graph, rules))
      if (auto next = apply_match(graph, match); next && *cost(*next) < least) {
        least = *cost(*next);
        best = std::move(*next);
      }
    if (best.hash() == graph.hash()) break;
    graph = std::move(best);
  }
  return least;
}

TEST(Ocggs, NothingIsWorseThanGreedy) {
  const auto rules = rules_of(kSmallSteps);
  int better = 0;
  for (uint64_t seed = 600; seed < 640; ++seed) {
    const Graph graph = RandomMatrixGraph(seed, 7).build();
    const double greedy = greedy_cost(graph, rules, unfused_us, 3);
    for (const auto& search : {enumerate_sequences, prune_search, dpp_search}) {
      const auto found = search(graph, rules, unfused_us, up_to(3));
      ASSERT_TRUE(found.has_value());
      EXPECT_LE(found->cost_after, greedy) << found->report.algorithm << ", seed " << seed;
      better += found->cost_after < greedy ? 1 : 0;
    }
  }
  EXPECT_GT(better, 0);
}

TEST(Ocggs, TheMemoryOfANodeIncludesItsTargets) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  SearchNode node{graph, all_matches(graph, rules)};
  ASSERT_FALSE(node.matches.empty());
  const int64_t without = bytes_of(node);
  keep_targets(graph, node.matches);
  const int64_t with = bytes_of(node);
  EXPECT_GT(with, without + 500 * static_cast<int64_t>(node.matches.size()));
  const SearchNode child = node;
  EXPECT_EQ(bytes_of(child), without) << "it shares all of them";
}

TEST(Ocggs, LimitsAreStopReasons) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  for (const auto& search : {enumerate_sequences, prune_search, dpp_search}) {
    SequenceOptions little = up_to(10);
    little.limits.budget.bytes = 20'000;
    const SequenceOutcome full = outcome_of(search, graph, rules, roofline(), little);
    EXPECT_EQ(full.found.report.stop_reason, "memory") << full.found.report.algorithm;
    EXPECT_GT(full.found.report.candidates, 0);
    EXPECT_LE(full.found.cost_after, full.found.cost_before);
    little.limits.budget.bytes = 0;
    EXPECT_EQ(search(graph, rules, roofline(), little)->graph.hash(), graph.hash());

    SequenceOptions few = up_to(10);
    few.limits.budget.candidates = 2;
    EXPECT_EQ(search(graph, rules, roofline(), few)->report.stop_reason, "candidate budget");

    SequenceOptions late = up_to(10);
    late.limits.budget.end = Deadline::after(0);
    const auto none = search(graph, rules, roofline(), late);
    EXPECT_EQ(none->report.stop_reason, "time budget");
    EXPECT_EQ(none->graph.hash(), graph.hash());
  }
}

}  // namespace
}  // namespace isomer
