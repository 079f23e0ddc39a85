#pragma once
// Brute force over sequences of substitutions, for the tests of searches.

#include <map>
#include <set>

#include "isomer/rules/rewrite.h"
#include "isomer/search/matches.h"
#include "isomer/search/reached_graphs.h"
#include "isomer/search/testing.h"

namespace isomer {

/// A cost that tells any two graphs apart, so that the cheapest of a set of graphs is one graph.
inline CandidateCost hash_cost() {
  return [](const Candidate& candidate) -> Result<double> {
    return 1 + 1e-6 * static_cast<double>(candidate.graph.hash() >> 32);
  };
}

/// The graphs that at most so many substitutions lead to, by hash. Builds every successor of every graph.
inline std::map<uint64_t, Graph> reachable(const Graph& first, std::span<const Rule> rules, int max_length) {
  std::map<uint64_t, Graph> all{{first.hash(), first}};
  std::vector<Graph> level{first};
  for (int length = 0; length < max_length; ++length) {
    std::vector<Graph> next;
    for (const Graph& graph : level)
      for (const Match& match : all_matches(graph, rules))
        if (auto after = apply_match(graph, match); after && all.emplace(after->hash(), *after).second)
          next.push_back(std::move(*after));
    level = std::move(next);
  }
  return all;
}

/// No limits but the length.
inline SequenceOptions up_to(int max_length) {
  return {.limits = {.budget = {.candidates = 1'000'000}, .max_growth = 1000, .max_length = max_length}};
}

/// What a search returns and reaches.
struct SequenceOutcome {
  FoundCandidate found;
  std::set<uint64_t> reached;
};
template <class Search>
SequenceOutcome outcome_of(const Search& search, const Graph& graph, std::span<const Rule> rules,
                           const CandidateCost& cost, SequenceOptions options) {
  std::set<uint64_t> reached;
  options.reached = [&](uint64_t hash) { EXPECT_TRUE(reached.insert(hash).second) << "reached twice"; };
  auto found = search(graph, rules, cost, options);
  if (!found) throw std::runtime_error(found.error().message);
  return {std::move(*found), std::move(reached)};
}

/// u = (z + t) - t, where t needs one of two products that read the same value.
constexpr std::string_view kDroppedOperand = R"(
  input x: f32[2,2]
  input z: f32[2,2]
  w = f32[2,2]{seed 1}
  v = f32[2,2]{seed 2}
  a = MatMul(x, w)
  b = MatMul(x, v)
  t = Tanh(a)
  s = Add(z, t)
  u = Sub(s, t)
  n = Neg(u)
  return n, b)";

/// Rules of one step each, so that sequences become long: some hand an operand through, some have two roots.
constexpr std::string_view kSmallSteps = R"(
rule cancel-transposes
  (Transpose perm=[1, 0] (Transpose perm=[1, 0] ?x)) => ?x
rule transpose-product
  (Transpose perm=[1, 0] (MatMul ?x ?y)) => (MatMul (Transpose perm=[1, 0] ?y) (Transpose perm=[1, 0] ?x))
rule cancel-negations
  (Neg (Neg ?x)) => ?x
rule negate
  (Sub 0.0 ?x) => (Neg ?x) where rank(?x) == 2
rule drop-one
  (Mul ?x 1.0) => ?x
rule add-to-itself
  (Add ?x ?x) => (Mul ?x 2.0)
rule cancel-add-sub
  (Sub (Add ?x ?y) ?y) => ?x where shape(?x) == shape(?y)
rule factor
  (Add (MatMul ?x ?a) (MatMul ?x ?b)) => (MatMul ?x (Add ?a ?b)) where shape(?a) == shape(?b)
rule distribute
  (MatMul ?x (Add ?a ?b)) => (Add (MatMul ?x ?a) (MatMul ?x ?b)) where shape(?a) == shape(?b)
rule associate
  (Add (Add ?x ?y) ?z) => (Add ?x (Add ?y ?z))
rule merge-two-products
  (MatMul ?x ?a), (MatMul ?x ?b)
  => (Split axis=1 split=[dim(?a, 1), dim(?b, 1)] (MatMul ?x (Concat axis=1 ?a ?b)))
  where ?a != ?b and rank(?x) == 2 and rank(?a) == 2 and rank(?b) == 2 and dim(?a, 0) == dim(?b, 0)
)";

}  // namespace isomer
