#pragma once
// Spaces of graphs that are small enough for brute force, for the tests of searches.

#include <map>
#include <queue>

#include "isomer/cost/roofline.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/backtrack.h"
#include "isomer/search/matches.h"
#include "isomer/search/testing.h"

namespace isomer {

inline CandidateCost roofline() {
  auto model = std::make_shared<RooflineCost>();
  return [model](const Candidate& candidate) -> Result<double> {
    ISOMER_TRY(const Metrics metrics, model->metrics(candidate));
    return metrics.latency_us;
  };
}

/// An evaluator that keeps no graph.
class AdmitsNothing : public Evaluator {
  bool admits(const Graph&) override { return false; }
  Result<Interval> measure(const Candidate&, const Candidate&) override { return fail("nothing is measured"); }
};

/// The least cost of all graphs that the rules lead to, by building every one.
inline double min_cost(const Graph& graph, std::span<const Rule> rules, const CandidateCost& cost, size_t limit) {
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
inline constexpr const char* kSruRules =
    "rule distribute\n(Mul (Sub 1.0 ?f) ?z) => (Sub ?z (Mul ?f ?z)) where real(?f) and shape(?f) == shape(?z)\n"
    "rule associate\n(Add ?p (Sub ?z ?q)) => (Add (Sub ?p ?q) ?z) where real(?p)\n"
    "rule factor\n(Sub (Mul ?f ?c) (Mul ?f ?z)) => (Mul ?f (Sub ?c ?z)) where real(?f)\n";

/// Some built-in rules that lead from kBranches to no more than 2000 graphs.
inline std::vector<Rule> branch_rules() {
  const auto all = builtin_rules();
  if (!all) throw std::runtime_error(all.error().message);
  std::vector<Rule> few;
  for (const Rule& rule : *all)
    if (rule.name == "merge-convolutions" || rule.name == "move-relu-below-concat" ||
        rule.name == "move-relu-above-concat" || rule.name == "cancel-concat-split" || rule.name == "factor-add")
      few.push_back(rule);
  if (few.size() != 5) throw std::runtime_error("a rule has another name");
  return few;
}

}  // namespace isomer
