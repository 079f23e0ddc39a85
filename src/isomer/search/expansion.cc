#include "isomer/search/expansion.h"

#include <algorithm>

#include "isomer/rules/rewrite.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"

namespace isomer {

Expansion::Expansion(const char* algorithm, std::span<const Rule> rules, const GraphCost& cost,
                     const SearchLimits& limits)
    : rules_(rules),
      cost_(cost),
      limits_(limits),
      refused_(limits.evaluator == nullptr ? nullptr : limits.evaluator->refused()) {
  report_.algorithm = algorithm;
}

Result<SearchNode> Expansion::begin(const Graph& graph) {
  ISOMER_TRY(first_cost_, cost_(graph));
  best_.cost = first_cost_;
  max_ops_ = static_cast<size_t>(limits_.max_growth * static_cast<double>(run_time_ops(graph))) + 4;
  seen_.insert(graph.hash());
  SearchNode first{graph, all_matches(graph, rules_, SIZE_MAX, limits_.deadline), first_cost_};
  report_.matches = static_cast<int64_t>(first.matches.size());
  return first;
}

bool Expansion::stopped() {
  if (report_.candidates >= limits_.max_candidates) report_.stop_reason = "candidate budget";
  if (limits_.deadline.passed()) report_.stop_reason = limits_.deadline.reason();
  return !report_.stop_reason.empty();
}

std::optional<CostedGraph> Expansion::cost(const SearchNode& parent, size_t match) {
  const auto delta = delta_of(parent.graph, parent.matches[match]);
  if (!delta) return std::nullopt;
  if (!seen_.insert(delta->hash).second) {
    ++report_.duplicates;
    return std::nullopt;
  }
  auto graph = apply_match(parent.graph, parent.matches[match], refused_);
  if (!graph || run_time_ops(*graph) > max_ops_) return std::nullopt;
  const auto cost = cost_(*graph);
  if (!cost) return std::nullopt;
  ++report_.candidates;
  return CostedGraph{std::move(*graph), *cost};
}

bool Expansion::keep(const Successor& successor, const Graph& graph) {
  Evaluator* evaluator = limits_.evaluator;
  if (evaluator != nullptr && !evaluator->admits(graph)) return false;
  if (!(successor.cost < best_.cost)) return true;
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
  return {std::move(graph), std::move(inherited.matches), successor.cost, successor.parent, successor.match};
}

FoundGraph Expansion::result(const Graph& graph) {
  if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
  report_.seconds = watch_.seconds();
  FoundGraph out{graph, first_cost_, best_.cost, std::move(report_)};
  Graph after;
  double cost_after = best_.cost;
  size_t match = best_.match;
  for (const SearchNode* from = best_.parent.get(); from != nullptr; from = from->parent.get()) {
    if (out.report.steps.empty()) after = out.graph = *apply_match(from->graph, from->matches[match]);
    out.report.steps.push_back(step_of(from->graph, from->matches[match], after, cost_after - from->cost));
    after = from->graph;
    cost_after = from->cost;
    match = from->match;
  }
  std::ranges::reverse(out.report.steps);
  return out;
}

}  // namespace isomer
