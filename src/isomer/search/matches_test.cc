#include "isomer/search/matches.h"

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Returns a hash of a match that does not depend on the ids of values.
uint64_t identity(const Graph& graph, const Match& match) {
  uint64_t hash = match.rule->hash();
  const auto mix = [&](ValueId value) { hash = hash_mix(hash, value == kNoValue ? 0 : graph.value_hash(value)); };
  for (const auto& [name, value] : match.binding.values) mix(value);
  for (const auto& [name, values] : match.binding.sequences)
    for (const ValueId value : values) mix(value);
  for (const ValueId root : match.roots) mix(root);
  for (const NodeId node : match.nodes) hash = hash_mix(hash, graph.node(node).hash);
  return hash;
}

/// In the order of the matches.
std::vector<uint64_t> identities(const Graph& graph, const std::vector<Match>& matches) {
  std::vector<uint64_t> out;
  out.reserve(matches.size());
  for (const Match& match : matches) out.push_back(identity(graph, match));
  return out;
}

/// A matcher that is asked for the reason of a failure evaluates all conditions when everything else has matched, and
/// looks at no operator before its turn. At a given node, it does not ask whether there can be a second root.
TEST(Matches, AskingForTheReasonChangesNone) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  int found = 0;
  for (const Graph& graph : {parsed(kGate), parsed(kBranches), build_model("inception-e-1").value(),
                             build_model("resnext50-branches").value(), build_model("sru-m10").value()}) {
    const OpIndex index(graph);
    for (const Rule& rule : *rules) {
      std::vector<Match> all;
      for (NodeId node = 0; node < graph.nodes().size(); ++node) {
        std::vector<Match> quick;
        std::vector<Match> slow;
        Miss miss;
        find_matches_at(graph, index, rule, node, quick);
        find_matches_at(graph, index, rule, node, slow, &miss);
        ASSERT_EQ(quick.size(), slow.size()) << rule.name;
        for (size_t i = 0; i < quick.size(); ++i)
          ASSERT_EQ(identity(graph, quick[i]), identity(graph, slow[i])) << rule.name;
        std::ranges::move(slow, std::back_inserter(all));
      }
      EXPECT_EQ(identities(graph, find_matches(graph, index, rule)), identities(graph, all)) << rule.name;
      found += static_cast<int>(all.size());
    }
  }
  EXPECT_GT(found, 100);
}

/// Random walks along the rules: inherited matches equal matches computed anew, and predicted hashes are right.
TEST(Matches, InheritedAreThoseFoundAfresh) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  int rewrites = 0;
  for (const std::string_view text : {kGate, kBranches}) {
    for (uint64_t seed = 0; seed < 30; ++seed) {
      Rng rng(seed);
      Graph graph = parsed(text);
      std::vector<Match> matches = all_matches(graph, *rules);
      for (int step = 0; step < 8 && !matches.empty(); ++step) {
        const Match& match = matches[rng.below(matches.size())];
        const auto next = apply_match(graph, match);
        const auto delta = delta_of(graph, match);
        ASSERT_EQ(next.has_value(), delta.has_value());
        if (!next) continue;
        ASSERT_EQ(next->hash(), delta->hash) << match.rule->name;
        std::vector<Match> inherited = inherit({graph, matches, *delta}, *next, RuleIndex(*rules)).matches;
        ASSERT_EQ(identities(*next, inherited), identities(*next, all_matches(*next, *rules)))
            << match.rule->name << " on\n"
            << print_graph(graph);
        expect_same_meaning(graph, *next);
        matches = std::move(inherited);
        graph = *next;
        ++rewrites;
      }
    }
  }
  EXPECT_GT(rewrites, 150);
}

TEST(Matches, InheritedAreInTheOrderOfThoseFoundAfresh) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  const RuleIndex index(*rules);
  size_t of_several_roots = 0;
  for (const char* network : {"inception-e-1", "squeezenet", "resnext50-branches", "sru-m10", "nasrnn"}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      Rng rng(seed);
      Graph graph = build_model(network).value();
      std::vector<Match> matches = all_matches(graph, *rules);
      for (int step = 0; step < 10 && !matches.empty(); ++step) {
        const Match& match = matches[rng.below(matches.size())];
        const auto next = apply_match(graph, match);
        const auto delta = delta_of(graph, match);
        if (!next || !delta) continue;
        std::vector<Match> inherited = inherit({graph, matches, *delta}, *next, index).matches;
        ASSERT_EQ(identities(*next, inherited), identities(*next, all_matches(*next, *rules)))
            << match.rule->name << " on " << network;
        for (const Match& each : inherited) of_several_roots += each.roots.size() > 1 ? 1 : 0;
        matches = std::move(inherited);
        graph = *next;
      }
    }
  }
  EXPECT_GT(of_several_roots, 1000);
}

/// A rewrite can make a weight of a value that is far above the match.
TEST(Matches, ValuesThatBecomeWeightsAreMatchedAfresh) {
  const auto rules = rules_of(
      "rule cancel (Sub (Add ?x ?y) ?y) => ?x where shape(?x) == shape(?y)\n"
      "rule negations (Neg (Neg ?x)) => ?x");
  const Graph graph = parsed(R"(
    input y: f32[2,2]
    w = f32[2,2]{seed 1}
    s = Add(w, y)
    d = Sub(s, y)
    a = Tanh(d)
    b = Tanh(a)
    c = Tanh(b)
    n = Neg(c)
    m = Neg(n)
    out = Add(m, y)
    return out)");
  const std::vector<Match> matches = all_matches(graph, rules);
  ASSERT_EQ(matches.size(), 2U);
  const Graph after = *apply_match(graph, matches[0]);
  EXPECT_TRUE(all_matches(after, rules).empty());
  EXPECT_TRUE(inherit({graph, matches, *delta_of(graph, matches[0])}, after, RuleIndex(rules)).matches.empty());
}

}  // namespace
}  // namespace isomer
