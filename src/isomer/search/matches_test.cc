#include "isomer/search/matches.h"

#include <array>
#include <functional>

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

/// Walks at random along the rules. Expects that predicted hashes are right, and that the same matches are inherited as
/// are found anew, in the same order. `check` sees the graphs before and after each rewrite. Returns their number.
int walk(Graph graph, const std::vector<Rule>& rules, const RuleIndex& index, uint64_t seed, int steps,
         const std::function<void(const Graph&, const Graph&)>& check = {}) {
  Rng rng(seed);
  int rewrites = 0;
  std::vector<Match> matches = all_matches(graph, rules);
  for (int step = 0; step < steps && !matches.empty(); ++step) {
    const Match& match = matches[rng.below(matches.size())];
    const auto next = apply_match(graph, match);
    const auto delta = delta_of(graph, match);
    EXPECT_EQ(next.has_value(), delta.has_value());
    if (!next || !delta) continue;
    EXPECT_EQ(next->hash(), delta->hash) << match.rule->name;
    std::vector<Match> inherited = inherit({graph, matches, *delta}, *next, index).matches;
    EXPECT_EQ(identities(*next, inherited), identities(*next, all_matches(*next, rules))) << match.rule->name << " on\n"
                                                                                          << print_graph(graph);
    if (check) check(graph, *next);
    matches = std::move(inherited);
    graph = *next;
    ++rewrites;
  }
  return rewrites;
}

TEST(Matches, InheritedAreThoseFoundAfresh) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  const RuleIndex index(*rules);
  int rewrites = 0;
  for (const std::string_view text : {kGate, kBranches})
    for (uint64_t seed = 0; seed < 30; ++seed)
      rewrites += walk(parsed(text), *rules, index, seed, 8, expect_same_meaning);
  EXPECT_GT(rewrites, 150);
}

/// Products, sums and negations of earlier values and weights.
Graph random_network(uint64_t seed) {
  constexpr size_t kNodes = 14;
  Rng rng(seed);
  GraphBuilder builder;
  const TensorType type{DType::Float, {2, 2}};
  std::vector<ValueId> values = {builder.input(type), builder.input(type)};
  std::vector<ValueId> weights;
  for (uint64_t i = 0; i < 4; ++i) weights.push_back(builder.constant(random_tensor(DType::Float, {2, 2}, i)));
  const auto any = [&](const std::vector<ValueId>& from) { return from[rng.below(from.size())]; };
  const auto add = [&](ValueId x, ValueId y) { return builder.add(*find_op("Add"), {}, {x, y}).value(); };
  for (size_t i = 0; i < kNodes; ++i) {
    const ValueId weight = rng.below(2) == 0 ? any(weights) : add(any(weights), any(weights));
    switch (rng.below(4)) {
      case 0:
        values.push_back(builder.add(*find_op("Neg"), {}, {any(values)}).value());
        break;
      case 1:
        values.push_back(add(any(values), any(values)));
        break;
      default:
        values.push_back(builder.add(*find_op("MatMul"), {}, {values[rng.below(2)], weight}).value());
    }
  }
  return builder.finish(values);
}

/// The first term of a rule matches a sum in two ways.
TEST(Matches, InheritedOfTermsThatMatchInSeveralWays) {
  const auto rules = rules_of(
      "rule pair (MatMul ?x (Add ?b ?c)), (MatMul ?x ?d) => (Add (MatMul ?x ?b) (MatMul ?x ?c)), (MatMul ?x ?d)\n"
      "rule below (Neg (Add ?x ?y)) => (Add (Neg ?x) (Neg ?y))\n"
      "rule above (Add (Neg ?x) (Neg ?y)) => (Neg (Add ?x ?y))\n"
      "rule negations (Neg (Neg ?x)) => ?x");
  const RuleIndex index(rules);
  int rewrites = 0;
  for (uint64_t seed = 0; seed < 300 && !::testing::Test::HasFailure(); ++seed)
    rewrites += walk(random_network(seed), rules, index, seed, 6);
  EXPECT_GT(rewrites, 500);
}

/// Sums, differences and negations of few values: rules make some of them equal to others, or weights.
Graph random_sums(uint64_t seed) {
  constexpr size_t kNodes = 12;
  Rng rng(seed);
  GraphBuilder builder;
  const TensorType type{DType::Float, {2, 2}};
  std::vector<ValueId> values = {builder.input(type), builder.constant(random_tensor(DType::Float, {2, 2}, 1))};
  const auto any = [&] { return values[rng.below(values.size())]; };
  for (size_t i = 0; i < kNodes; ++i) {
    const char* const op = std::array{"Neg", "Neg", "Add", "Sub"}[rng.below(4)];
    std::vector<ValueId> operands{any()};
    if (op != std::string_view("Neg")) operands.push_back(any());
    values.push_back(builder.add(*find_op(op), {}, operands).value());
  }
  return builder.finish(values);
}

/// A variable then stands for a value that is not new, but about which something else is known.
TEST(Matches, InheritedWhereValuesBecomeEqualOrWeights) {
  const auto rules = rules_of(
      "rule negations (Neg (Neg ?x)) => ?x\n"
      "rule cancel (Sub (Add ?x ?y) ?y) => (Neg (Neg ?x))\n"
      "rule twice (Add ?x ?x) => (Sub ?x (Neg ?x))\n"
      "rule of-weight (Sub ?x ?w) => (Add ?x (Neg ?w)) where weight(?w)\n"
      "rule of-others (Sub ?x (Neg ?y)) => (Add ?x ?y)");
  const RuleIndex index(rules);
  int rewrites = 0;
  for (uint64_t seed = 0; seed < 1000 && !::testing::Test::HasFailure(); ++seed)
    rewrites += walk(random_sums(seed), rules, index, seed, 6);
  EXPECT_GT(rewrites, 2000);
}

TEST(Matches, InheritedAreInTheOrderOfThoseFoundAfresh) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  const RuleIndex index(*rules);
  size_t of_several_roots = 0;
  for (const char* network : {"inception-e-1", "squeezenet", "resnext50-branches", "sru-m10", "nasrnn"}) {
    const Graph graph = build_model(network).value();
    for (uint64_t seed = 0; seed < 3; ++seed) EXPECT_GT(walk(graph, *rules, index, seed, 10), 0) << network;
    for (const Match& match : all_matches(graph, *rules)) of_several_roots += match.roots.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(of_several_roots, 100);
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

/// Each result of a node can become a value of another one.
TEST(Matches, ResultsThatBecomeOtherValuesAreMatchedAfresh) {
  const auto rules = rules_of(
      "rule cancel (Split axis=?a split=?s (Concat axis=?a @x)) => @x where dims(@x, ?a) == ?s\n"
      "rule negations (Neg (Neg ?x)) => ?x\n"
      "rule twice (Add ?x ?x) => (Sub ?x (Neg ?x))");
  for (const char* const text :
       {"b = Neg(y)\n c = Concat(x, b) {axis=0}\n s, t = Split(c) {axis=0, split=[2,2]}\n u = Neg(t)",
        "b = Exp(y)\n c = Concat(x, b) {axis=0}\n s, t = Split(c) {axis=0, split=[2,2]}\n"
        "u = Add(t, b)"}) {
    const Graph graph = parsed(fmt::format("input x: f32[2]\n input y: f32[2]\n {}\n return s, u", text));
    const std::vector<Match> matches = all_matches(graph, rules);
    ASSERT_EQ(matches.size(), 1U);
    const Graph after = *apply_match(graph, matches[0]);
    const auto afresh = all_matches(after, rules);
    EXPECT_EQ(afresh.size(), 1U);
    const auto inherited = inherit({graph, matches, *delta_of(graph, matches[0])}, after, RuleIndex(rules)).matches;
    EXPECT_EQ(identities(after, inherited), identities(after, afresh)) << text;
  }
}

}  // namespace
}  // namespace isomer
