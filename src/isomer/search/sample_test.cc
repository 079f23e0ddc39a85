#include "isomer/search/sample.h"

#include "isomer/eval/random_graph_testing.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/brute_force_testing.h"
#include "isomer/search/sequences.h"
#include "isomer/search/sequences_testing.h"

namespace isomer {
namespace {

TEST(OcggsSample, CrossesARiseInCost) {
  const Graph graph = parsed(kGate);
  const auto rules = rules_of(kSruRules);
  const auto found = sample_search(graph, rules, roofline(), {.sequences = up_to(10)});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->report.steps.size(), 3U);
  EXPECT_EQ(found->report.algorithm, "sample");
  EXPECT_EQ(found->report.stop_reason, "exhausted");
  EXPECT_GT(found->report.steps.front().delta, 0);
  EXPECT_LT(found->cost_after, found->cost_before);
  expect_same_meaning(graph, found->graph);
  EXPECT_TRUE(sample_search(graph, rules, roofline(), {.eta = 0, .sequences = up_to(10)})->report.steps.empty());
  EXPECT_TRUE(sample_search(graph, rules, roofline(), {.sequences = up_to(2)})->report.steps.empty());
}

TEST(OcggsSample, AWideQueueFindsTheOptimum) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  const auto best = enumerate_sequences(graph, rules, roofline(), up_to(6));
  const auto found = sample_search(graph, rules, roofline(), {.queue = 1000, .eta = 6, .sequences = up_to(6)});
  ASSERT_TRUE(best && found);
  EXPECT_DOUBLE_EQ(found->cost_after, best->cost_after);
  EXPECT_LE(found->report.candidates, best->report.candidates);
}

TEST(OcggsSample, IsRepeatableAndNeverWorseThanTheFirstGraph) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Graph graph = RandomMatrixGraph(seed).build();
    SequenceOptions limited = up_to(10);
    limited.limits.budget.candidates = 300;
    const SampleOptions options{.queue = 6, .eta = 2, .seed = seed, .sequences = limited};
    const auto found = sample_search(graph, *rules, roofline(), options);
    const auto again = sample_search(graph, *rules, roofline(), options);
    ASSERT_TRUE(found && again);
    EXPECT_EQ(found->graph.hash(), again->graph.hash());
    EXPECT_EQ(found->report.candidates, again->report.candidates);
    EXPECT_EQ(found->report.duplicates, again->report.duplicates);
    EXPECT_LE(found->cost_after, found->cost_before);
    EXPECT_LE(found->report.steps.size(), 10U);
    EXPECT_DOUBLE_EQ(*roofline()(found->graph), found->cost_after);
  }
}

TEST(OcggsSample, ReachesOnlyWhatEnumerationReaches) {
  const auto rules = rules_of(kSmallSteps);
  for (uint64_t seed = 800; seed < 840; ++seed) {
    const Graph graph = RandomMatrixGraph(seed, 6).build();
    const auto all = reachable(graph, rules, 2);
    const auto sample = [](const Graph& first, std::span<const Rule> with, const CandidateCost& cost,
                           const SequenceOptions& sequences) {
      return sample_search(first, with, cost, {.queue = 4, .sequences = sequences});
    };
    const SequenceOutcome some = outcome_of(sample, graph, rules, hash_cost(), up_to(2));
    for (const uint64_t hash : some.reached) EXPECT_TRUE(all.contains(hash)) << "seed " << seed;
  }
}

TEST(OcggsSample, LimitsAreStopReasons) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  SampleOptions options{.sequences = up_to(10)};
  options.sequences.limits.budget.candidates = 2;
  EXPECT_EQ(sample_search(graph, rules, roofline(), options)->report.stop_reason, "candidate budget");
  options.sequences = up_to(10);
  options.sequences.limits.budget.bytes = 0;
  EXPECT_EQ(sample_search(graph, rules, roofline(), options)->report.stop_reason, "memory");
  options.sequences = up_to(10);
  options.sequences.limits.budget.end = Deadline::after(0);
  EXPECT_EQ(sample_search(graph, rules, roofline(), options)->report.stop_reason, "time budget");
}

}  // namespace
}  // namespace isomer
