#include "isomer/search/expansion.h"

#include <algorithm>
#include <cmath>

#include "isomer/rules/match_target.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// Sums of the costs of equal kernels in another order differ by less than this, relative to the sum.
constexpr double kRounding = 1e-12;

Candidate successor_of(const SearchNode& before, size_t match) {
  Graph graph = *apply_match(before.graph, before.matches[match]);
  if (before.decisions.empty()) return graph;
  return carried(before.decisions, delta_of(before.graph, before.matches[match])->value_hashes, std::move(graph));
}

}  // namespace

Expansion::Expansion(const char* algorithm, std::span<const Rule> rules, const CandidateCost& cost,
                     const SearchLimits& limits)
    : rules_(rules),
      cost_(cost),
      limits_(limits),
      refused_(limits.evaluator == nullptr ? nullptr : limits.evaluator->refused()) {
  report_.algorithm = algorithm;
}

Result<SearchNode> Expansion::begin(const Candidate& first) {
  ISOMER_TRY(first_cost_, cost_(first));
  best_.cost = first_cost_;
  if (limits_.max_growth > 0) max_ops_ = limits_.max_growth * static_cast<double>(run_time_ops(first.graph)) + 4;
  seen_.insert(first.hash());
  SearchNode node{first, all_matches(first.graph, rules_, SIZE_MAX, limits_.budget.end), first_cost_};
  keep_targets(first.graph, node.matches);
  report_.matches = static_cast<int64_t>(node.matches.size());
  return node;
}

bool Expansion::stopped(int64_t stored) {
  if (report_.stop_reason.empty()) report_.stop_reason = limits_.budget.spent(report_.candidates, stored);
  return !report_.stop_reason.empty();
}

std::optional<CostedCandidate> Expansion::cost(const SearchNode& parent, size_t match) {
  if (parent.length >= limits_.max_length) return std::nullopt;
  const auto delta = delta_of(parent.graph, parent.matches[match]);
  if (!delta) return std::nullopt;
  // With decisions, the hash is known only when the graph is: decisions about values that are gone do not count.
  const bool undecided = parent.decisions.empty();
  if (undecided && !is_new(delta->hash)) return std::nullopt;
  auto graph = apply_match(parent.graph, parent.matches[match], refused_);
  if (!graph) return std::nullopt;
  if (static_cast<double>(run_time_ops(*graph)) > max_ops_) {
    outgrown_ = true;
    return std::nullopt;
  }
  Candidate candidate = carried(parent.decisions, delta->value_hashes, std::move(*graph));
  if (!undecided && !is_new(candidate.hash())) return std::nullopt;
  const auto cost = cost_(candidate);
  if (!cost) return std::nullopt;
  ++report_.candidates;
  return CostedCandidate{std::move(candidate), *cost};
}

bool Expansion::is_new(uint64_t hash) {
  const bool fresh = seen_.insert(hash).second;
  if (!fresh) ++report_.duplicates;
  return fresh;
}

bool Expansion::keep(const Successor& successor, const Graph& graph) {
  Evaluator* evaluator = limits_.evaluator;
  if (evaluator != nullptr && !evaluator->admits(graph)) return false;
  if (!(successor.cost < best_.cost)) return true;
  if (best_.cost - successor.cost <= kRounding * std::abs(successor.cost)) return true;
  if (evaluator != nullptr && !evaluator->foldable(graph)) return false;
  best_ = successor;
  return true;
}

SearchNode Expansion::build(const Successor& successor, std::vector<bool>& marks) {
  const SearchNode& parent = *successor.parent;
  const Match& match = parent.matches[successor.match];
  Graph graph = *apply_match(parent.graph, match);
  const auto delta = delta_of(parent.graph, match);
  Inherited inherited = inherit({parent.graph, parent.matches, *delta, marks}, graph, rules_);
  marks = std::move(inherited.marks);
  report_.matches += static_cast<int64_t>(inherited.matches.size());
  keep_targets(graph, inherited.matches);
  return {carried(parent.decisions, delta->value_hashes, std::move(graph)),
          std::move(inherited.matches),
          successor.cost,
          successor.parent,
          successor.match,
          parent.length + 1};
}

FoundCandidate Expansion::result(const Candidate& first) {
  if (report_.stop_reason.empty()) report_.stop_reason = outgrown_ ? "growth limit" : "exhausted";
  report_.seconds = watch_.seconds();
  FoundCandidate out{first, first_cost_, best_.cost, std::move(report_)};
  if (best_.parent != nullptr) static_cast<Candidate&>(out) = successor_of(*best_.parent, best_.match);
  Graph after = out.graph;
  double cost_after = best_.cost;
  size_t match = best_.match;
  for (const SearchNode* from = best_.parent.get(); from != nullptr; from = from->parent.get()) {
    out.report.steps.push_back(step_of(from->graph, from->matches[match], after, cost_after - from->cost));
    after = from->graph;
    cost_after = from->cost;
    match = from->match;
  }
  std::ranges::reverse(out.report.steps);
  return out;
}

}  // namespace isomer
