#include "isomer/search/commutation.h"

#include <algorithm>

#include "isomer/eval/random_graph_testing.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/sequences_testing.h"

namespace isomer {
namespace {

/// Whether two matches of a graph commute; `first` is applied first.
bool commute(const Graph& graph, const Match& first, const Match& second) {
  const Delta delta = *delta_of(graph, first);
  const Commutation commutation(graph, first, footprint_of(graph, first, delta), delta);
  return commutation.spares(second) && commutation.spared_by(footprint_of(graph, second, *delta_of(graph, second)));
}

/// Applies a match, and then another one if it still matches. Returns the hash of the result; 0 if it does not match.
uint64_t hash_after_both(const Graph& graph, std::span<const Rule> rules, const Match& first, const Match& second) {
  const Graph between = *apply_match(graph, first);
  const uint64_t identity = identity_of(second, delta_of(graph, first)->value_hashes);
  const std::vector<uint64_t> hashes = value_hashes_of(between);
  for (const Match& match : all_matches(between, rules)) {
    if (identity_of(match, hashes) != identity) continue;
    const auto after = apply_match(between, match);
    return after ? after->hash() : 0;
  }
  return 0;
}

/// A match that drops what the other one changes makes that one unnecessary: it no longer matches, and the result is as
/// if it had been applied.
bool drops(const Graph& graph, const Match& first, uint64_t both) { return apply_match(graph, first)->hash() == both; }

/// Expects that any two matches that commute by the footprints really do, if the second one still matches after the
/// first. Returns their number.
size_t check_pairs(const Graph& graph, std::span<const Rule> rules) {
  size_t commuting = 0;
  const std::vector<Match> matches = all_matches(graph, rules);
  for (const Match& first : matches) {
    for (const Match& second : matches) {
      if (&first == &second || !apply_match(graph, first) || !apply_match(graph, second)) continue;
      if (!commute(graph, first, second)) continue;
      EXPECT_TRUE(commute(graph, second, first));
      const uint64_t both = hash_after_both(graph, rules, first, second);
      if (both == 0) continue;  // the first one has removed what the second one matches
      const uint64_t swapped = hash_after_both(graph, rules, second, first);
      EXPECT_TRUE(swapped == both || (swapped == 0 && drops(graph, second, both)))
          << first.rule->name << ", then " << second.rule->name << " on\n"
          << print_graph(graph);
      ++commuting;
    }
  }
  return commuting;
}

TEST(OcggsCommutation, BothOrdersLeadToTheSameGraph) {
  const auto small = rules_of(kSmallSteps);
  const auto all = builtin_rules();
  ASSERT_TRUE(all.has_value());
  size_t commuting = 0;
  for (uint64_t seed = 1; seed <= 1200 && !HasFailure(); ++seed) {
    commuting += check_pairs(RandomMatrixGraph(seed, 16).build(), small);
    if (seed % 10 == 0) commuting += check_pairs(RandomMatrixGraph(seed, 5).build(), *all);
  }
  EXPECT_GT(commuting, 500U);
}

/// Whether the only match of one rule commutes with the only match of another one.
bool commute(const Graph& graph, std::string_view first, std::string_view second) {
  const auto rules = rules_of(kSmallSteps);
  const auto only = [&](std::string_view name) {
    const auto rule = std::ranges::find(rules, name, &Rule::name);
    std::vector<Match> found = find_matches(graph, OpIndex(graph), *rule);
    EXPECT_EQ(found.size(), 1U) << name;
    return found.at(0);
  };
  return commute(graph, only(first), only(second));
}

TEST(OcggsCommutation, DistantSubstitutionsCommute) {
  EXPECT_TRUE(commute(parsed("input x: f32[2,2]\ninput y: f32[2,2]\na = Neg(x)\nb = Neg(a)\n"
                             "c = Transpose(y) {perm=[1,0]}\nd = Transpose(c) {perm=[1,0]}\nreturn b, d"),
                      "cancel-negations", "cancel-transposes"));
  EXPECT_TRUE(commute(parsed("input x: f32[2,2]\na = Neg(x)\nb = Neg(a)\nt = Tanh(b)\n"
                             "c = Transpose(t) {perm=[1,0]}\nd = Transpose(c) {perm=[1,0]}\nreturn d"),
                      "cancel-negations", "cancel-transposes"))
      << "one reads what the other one changes, but does not match it";
}

TEST(OcggsCommutation, SubstitutionsOfTheSameValueDoNot) {
  EXPECT_FALSE(commute(parsed("input x: f32[2,2]\na = Neg(x)\nb = Neg(a)\n"
                              "c = Transpose(b) {perm=[1,0]}\nd = Transpose(c) {perm=[1,0]}\nreturn d"),
                       "cancel-negations", "cancel-transposes"))
      << "one binds what the other one replaces";
  EXPECT_FALSE(commute(parsed("input x: f32[2,2]\na = Neg(x)\nb = Neg(a)\n"
                              "c = Transpose(x) {perm=[1,0]}\nd = Transpose(c) {perm=[1,0]}\nreturn b, d"),
                       "cancel-negations", "cancel-transposes"))
      << "one binds what the other one makes equal to another value";
}

/// Replacing Sub(0, y) makes Neg(y), which exists already and is replaced by the other substitution.
TEST(OcggsCommutation, MakingAValueThatIsReplacedDoesNotCommute) {
  EXPECT_FALSE(
      commute(parsed("input x: f32[2,2]\nzero = f32[]{0}\na = Neg(x)\nb = Sub(zero, a)\nc = Neg(a)\nreturn b, c"),
              "negate", "cancel-negations"));
}

/// After u = z, nothing reads the first product, which is a root of the merge.
TEST(OcggsCommutation, DroppingAValueDoesNotCommuteWithWhatStandsAboveIt) {
  const auto rules = rules_of(kSmallSteps);
  const Graph graph = parsed(kDroppedOperand);
  const std::vector<Match> matches = all_matches(graph, rules);
  ASSERT_EQ(matches.size(), 3U) << "the merge in both orders, and the difference";
  for (const Match& first : matches)
    for (const Match& second : matches) EXPECT_FALSE(commute(graph, first, second));
}

TEST(OcggsCommutation, MergesThatTogetherCloseACycleDoNot) {
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
  const std::vector<Match> merges = all_matches(graph, rules);
  ASSERT_EQ(merges.size(), 4U) << "each pair in both orders";
  for (const Match& first : merges)
    for (const Match& second : merges) EXPECT_FALSE(commute(graph, first, second));
}

}  // namespace
}  // namespace isomer
