#include "isomer/egraph/pattern_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/base/rng.h"
#include "isomer/egraph/testing.h"

namespace isomer {
namespace {

using Matches = std::vector<std::pair<size_t, ESubst>>;

Matches matches(const EGraph& graph, const PatternSet& set, EClassId id) {
  Matches out;
  set.match(graph, id, [&](size_t pattern, const ESubst& subst) { out.emplace_back(pattern, subst); });
  return out;
}

EPattern variable(uint32_t number) { return {EPattern::kVariable, number, {}}; }

TEST(PatternSet, FindsAPatternInAnyNodeOfAClass) {
  EGraph graph;
  const EClassId a = graph.add({1});
  const EClassId b = graph.add({2});
  const EClassId fa = graph.add({kF, {a}});
  const EClassId gb = graph.add({kG, {b}});
  const EClassId top = graph.add({kF, {gb}});
  PatternSet set;
  EXPECT_EQ(set.add({kF, 0, {{kF, 0, {variable(0)}}}}), 0U);
  graph.rebuild();
  EXPECT_TRUE(matches(graph, set, top).empty());
  graph.merge(fa, gb);
  graph.rebuild();
  EXPECT_EQ(matches(graph, set, top), (Matches{{0, {graph.find(a)}}}));
}

TEST(PatternSet, BindsAVariableOnce) {
  EGraph graph;
  const EClassId a = graph.add({1});
  const EClassId b = graph.add({2});
  const EClassId ab = graph.add({kF, {a, b}});
  const EClassId aa = graph.add({kF, {a, a}});
  PatternSet set;
  set.add({kF, 0, {variable(0), variable(0)}});
  graph.rebuild();
  EXPECT_TRUE(matches(graph, set, ab).empty());
  EXPECT_EQ(matches(graph, set, aa).size(), 1U);
  graph.merge(a, b);
  graph.rebuild();
  EXPECT_EQ(matches(graph, set, ab).size(), 1U);
}

TEST(PatternSet, TellsApartHowManyChildrenALabelHas) {
  EGraph graph;
  const EClassId a = graph.add({1});
  const EClassId one = graph.add({kF, {a}});
  const EClassId two = graph.add({kF, {a, a}});
  PatternSet set;
  set.add({kF, 0, {variable(0)}});
  set.add({kF, 0, {variable(0), variable(1)}});
  graph.rebuild();
  EXPECT_EQ(matches(graph, set, one), (Matches{{0, {a}}}));
  EXPECT_EQ(matches(graph, set, two), (Matches{{1, {a, a}}}));
}

/// Matches one pattern after the other, without sharing.
class SlowMatcher {
 public:
  explicit SlowMatcher(const EGraph& graph) : graph_(graph) {}

  /// Returns all extensions of `subst` (by number; kUnbound if unbound).
  std::vector<ESubst> ways(const EPattern& pattern, EClassId raw, const ESubst& subst) const {
    const EClassId id = graph_.find(raw);
    if (pattern.label == EPattern::kVariable) {
      ESubst bound = subst;
      if (bound.size() <= pattern.variable) bound.resize(pattern.variable + 1, kUnbound);
      if (bound[pattern.variable] != kUnbound && bound[pattern.variable] != id) return {};
      bound[pattern.variable] = id;
      return {bound};
    }
    std::vector<ESubst> out;
    for (const ENode& node : graph_.nodes(id)) {
      if (node.label != pattern.label || node.children.size() != pattern.children.size()) continue;
      std::vector<ESubst> so_far{subst};
      for (size_t i = 0; i < node.children.size(); ++i) {
        std::vector<ESubst> next;
        for (const ESubst& each : so_far)
          std::ranges::move(ways(pattern.children[i], node.children[i], each), std::back_inserter(next));
        so_far = std::move(next);
      }
      std::ranges::move(so_far, std::back_inserter(out));
    }
    return out;
  }

 private:
  const EGraph& graph_;
};

EPattern random_pattern(Rng& rng, size_t depth, uint32_t& variables) {
  if (depth == 0 || rng.below(4) == 0) {
    if (rng.below(4) == 0) return {static_cast<uint32_t>(rng.below(2)), 0, {}};
    const auto number = static_cast<uint32_t>(rng.below(variables + 1));
    variables = std::max(variables, number + 1);
    return variable(number);
  }
  EPattern out{static_cast<uint32_t>(rng.below(2)) + kF, 0, {}};
  for (uint32_t i = kF; i <= out.label; ++i) out.children.push_back(random_pattern(rng, depth - 1, variables));
  return out;
}

EGraph random_graph(Rng& rng) {
  EGraph graph;
  std::vector<EClassId> ids{graph.add({0}), graph.add({1}), graph.add({2})};
  const auto any = [&] { return ids[rng.below(ids.size())]; };
  for (int i = 0; i < 12; ++i)
    ids.push_back(rng.below(2) == 0 ? graph.add({kF, {any()}}) : graph.add({kG, {any(), any()}}));
  for (int i = 0; i < 4; ++i) graph.merge(any(), any());
  graph.rebuild();
  return graph;
}

TEST(PatternSet, FindsWhatTheSlowMatcherFinds) {
  Rng rng(7);
  size_t found = 0;
  for (int round = 0; round < 200; ++round) {
    const EGraph graph = random_graph(rng);
    PatternSet set;
    std::vector<EPattern> patterns;
    for (int i = 0; i < 20; ++i) {
      uint32_t variables = 0;
      patterns.push_back(random_pattern(rng, 3, variables));
      EXPECT_EQ(set.add(patterns.back()), patterns.size() - 1);
    }
    for (const EClassId id : graph.classes()) {
      Matches expected;
      for (size_t i = 0; i < patterns.size(); ++i)
        for (ESubst& way : SlowMatcher(graph).ways(patterns[i], id, {})) expected.emplace_back(i, std::move(way));
      Matches actual = matches(graph, set, id);
      // The matches of each pattern are in the same order.
      std::ranges::stable_sort(actual, {}, [](const auto& match) { return match.first; });
      EXPECT_EQ(actual, expected);
      found += actual.size();
    }
  }
  EXPECT_GT(found, 5000U);
}

}  // namespace
}  // namespace isomer
