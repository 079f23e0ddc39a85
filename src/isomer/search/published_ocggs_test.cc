// Tests that the exact searches of OCGGS as published miss graphs, and that the repaired ones do not.

#include "isomer/search/published_ocggs.h"

#include <algorithm>

#include "isomer/eval/random_graph_testing.h"
#include "isomer/search/ocggs.h"
#include "isomer/search/sequences.h"
#include "isomer/search/sequences_testing.h"

namespace isomer {
namespace {

SequenceOutcome published(bool reuse, const Graph& graph, std::span<const Rule> rules, int max_length,
                          const std::vector<NodeId>& numbers = {}) {
  const auto search = [&](const Graph& first, std::span<const Rule> with, const CandidateCost& cost,
                          const SequenceOptions& options) {
    return reuse ? published_dpp_search(first, with, cost, options, numbers)
                 : published_prune_search(first, with, cost, options, numbers);
  };
  return outcome_of(search, graph, rules, hash_cost(), up_to(max_length));
}

/// The nodes of a graph, numbered from the outputs to the inputs.
std::vector<NodeId> backwards(const Graph& graph) {
  std::vector<NodeId> numbers;
  for (auto left = static_cast<NodeId>(graph.nodes().size()); left-- > 0;) numbers.push_back(left);
  return numbers;
}

/// Expects that the repaired searches reach a graph within so many substitutions.
void expect_reached(const Graph& graph, std::span<const Rule> rules, int max_length, uint64_t hash) {
  for (const auto& search : {enumerate_sequences, prune_search, dpp_search}) {
    const SequenceOutcome outcome = outcome_of(search, graph, rules, hash_cost(), up_to(max_length));
    EXPECT_TRUE(outcome.reached.contains(hash)) << outcome.found.report.algorithm;
  }
}

/// Rules that cancel what stands between two products, and merge these.
std::vector<Rule> merging_rules() {
  std::vector<Rule> rules = rules_of(kSmallSteps);
  std::erase_if(rules, [](const Rule& rule) {
    return rule.name != "cancel-transposes" && rule.name != "cancel-negations" && rule.name != "negate" &&
           rule.name != "merge-two-products";
  });
  return rules;
}

constexpr std::string_view kMerged = R"(
  input x: f32[2,2]
  w = f32[2,2]{seed 1}
  v = f32[2,2]{seed 2}
  c = Concat(w, v) {axis=1}
  p = MatMul(x, c)
  a, b = Split(p) {axis=1, split=[2,2]}
  return a, b)";

/// Cancelling T(T(x)) creates no node. The merge replaces original nodes only, so by definition 7 it depends on
/// nothing; and nothing but the labels orders the two.
TEST(OcggsPublished, PruningMissesWhatAHandedThroughOperandEnables) {
  const Graph graph = parsed(R"(
    input x: f32[2,2]
    w = f32[2,2]{seed 1}
    v = f32[2,2]{seed 2}
    t = Transpose(x) {perm=[1,0]}
    y = Transpose(t) {perm=[1,0]}
    a = MatMul(x, w)
    b = MatMul(y, v)
    return a, b)");
  const auto rules = merging_rules();
  const uint64_t merged = parsed(kMerged).hash();
  EXPECT_TRUE(published(false, graph, rules, 2).reached.contains(merged)) << "labels in the order of the sequence";
  EXPECT_FALSE(published(false, graph, rules, 2, backwards(graph)).reached.contains(merged));
  EXPECT_FALSE(published(false, graph, rules, 9, backwards(graph)).reached.contains(merged)) << "no length is enough";
  expect_reached(graph, rules, 2, merged);
}

/// With any labels: the substitution that enables the merge depends on another one, and the merge on none.
TEST(OcggsPublished, PruningMissesGraphsWithAnyLabels) {
  const Graph graph = parsed(R"(
    input x: f32[2,2]
    w = f32[2,2]{seed 1}
    v = f32[2,2]{seed 2}
    zero = f32[]{0}
    n = Sub(zero, x)
    y = Neg(n)
    a = MatMul(x, w)
    b = MatMul(y, v)
    return a, b)");
  const auto rules = merging_rules();
  const uint64_t merged = parsed(kMerged).hash();
  EXPECT_FALSE(published(false, graph, rules, 3).reached.contains(merged));
  EXPECT_FALSE(published(false, graph, rules, 3, backwards(graph)).reached.contains(merged));
  EXPECT_FALSE(published(false, graph, rules, 9).reached.contains(merged));
  expect_reached(graph, rules, 3, merged);
}

/// The merge is no child of the first graph, and it matches no node that cancelling has created (theorem 5).
TEST(OcggsPublished, DynamicProgrammingMissesWhatIsEnabledWithoutDependence) {
  const Graph graph = parsed(R"(
    input x: f32[2,2]
    w = f32[2,2]{seed 1}
    v = f32[2,2]{seed 2}
    t = Transpose(x) {perm=[1,0]}
    y = Transpose(t) {perm=[1,0]}
    a = MatMul(x, w)
    b = MatMul(y, v)
    return a, b)");
  const auto rules = merging_rules();
  const uint64_t merged = parsed(kMerged).hash();
  EXPECT_TRUE(published(false, graph, rules, 2).reached.contains(merged));
  EXPECT_FALSE(published(true, graph, rules, 2).reached.contains(merged));
}

/// Reusing the second merge after the first would close a cycle (theorem 5). The repaired order knows that they do not
/// commute.
TEST(OcggsPublished, AReusedSubstitutionMayBeSpoiled) {
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
  const auto rules = merging_rules();
  const std::vector<Match> merges = all_matches(graph, rules);
  ASSERT_EQ(merges.size(), 4U);
  const auto shares_no_root = [&](const Match& other) {
    return std::ranges::find(other.roots, merges[0].roots[0]) == other.roots.end() &&
           std::ranges::find(other.roots, merges[0].roots[1]) == other.roots.end();
  };
  const auto second = std::ranges::find_if(merges, shares_no_root);
  ASSERT_NE(second, merges.end());
  ASSERT_TRUE(apply_match(graph, merges[0]) && apply_match(graph, *second));
  std::vector<Match> both{merges[0], *second};
  EXPECT_EQ(apply_matches(graph, both).applied.size(), 1U) << "both together would close a cycle";
}

/// Where the published searches miss graphs, the repaired ones do not; and they never reach other graphs.
TEST(OcggsPublished, SetsOfReachedGraphsAreCompared) {
  const auto rules = rules_of(kSmallSteps);
  constexpr int kLength = 3;
  int pruning_misses = 0;
  int reuse_misses = 0;
  for (uint64_t seed = 700; seed < 760; ++seed) {
    const Graph graph = RandomMatrixGraph(seed, 7).build();
    SequenceOptions options = up_to(kLength);
    options.limits.budget.candidates = 300;
    const SequenceOutcome all = outcome_of(enumerate_sequences, graph, rules, hash_cost(), options);
    if (all.found.report.stop_reason != "exhausted") continue;
    for (const bool reuse : {false, true}) {
      const SequenceOutcome some = published(reuse, graph, rules, kLength);
      EXPECT_TRUE(std::ranges::includes(all.reached, some.reached)) << "seed " << seed;
      (reuse ? reuse_misses : pruning_misses) += some.reached.size() < all.reached.size() ? 1 : 0;
    }
    EXPECT_EQ(outcome_of(prune_search, graph, rules, hash_cost(), up_to(kLength)).reached, all.reached);
  }
  EXPECT_GT(pruning_misses, 0);
  EXPECT_GE(reuse_misses, pruning_misses);
}

}  // namespace
}  // namespace isomer
