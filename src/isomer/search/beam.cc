#include "isomer/search/beam.h"

#include <algorithm>
#include <unordered_set>

#include "isomer/base/stopwatch.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/everywhere.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// A graph that was kept, and how it came about.
struct BeamState {
  Graph graph;
  std::vector<Match> matches;
  double cost = 0;
  std::shared_ptr<const BeamState> parent = nullptr;
  size_t match = 0;  // of the parent
};

/// A graph that has a cost but is not built yet.
struct BeamCandidate {
  double cost = 0;
  std::shared_ptr<const BeamState> parent = nullptr;
  size_t match = 0;
};

class Beam {
 public:
  Beam(std::span<const Rule> rules, const GraphCost& cost, const BeamOptions& options)
      : rules_(rules),
        cost_(cost),
        options_(options),
        refused_(options.evaluator == nullptr ? nullptr : options.evaluator->refused()) {}

  Result<BacktrackResult> run(const Graph& graph) {
    ISOMER_TRY(const double cost, cost_(graph));
    report_.algorithm = "beam";
    max_ops_ = static_cast<size_t>(options_.max_growth * static_cast<double>(run_time_ops(graph))) + 4;
    seen_.insert(graph.hash());
    best_.cost = cost;
    std::vector<std::shared_ptr<const BeamState>> kept = {
        std::make_shared<BeamState>(BeamState{graph, all_matches(graph, rules_, SIZE_MAX, options_.deadline), cost})};
    report_.matches = static_cast<int64_t>(kept[0]->matches.size());
    while (!kept.empty() && !stopped()) {
      std::vector<BeamCandidate> next;
      for (const auto& state : kept) expand(state, next);
      std::ranges::stable_sort(next, {}, &BeamCandidate::cost);
      if (options_.width > 0 && next.size() > options_.width) next.resize(options_.width);
      kept.clear();
      for (const BeamCandidate& candidate : next)
        if (!stopped()) kept.push_back(built(candidate));
    }
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = watch_.seconds();
    return result(graph, cost);
  }

 private:
  bool stopped() {
    if (report_.candidates >= options_.max_candidates) report_.stop_reason = "candidate budget";
    if (options_.deadline.passed()) report_.stop_reason = options_.deadline.reason();
    return !report_.stop_reason.empty();
  }

  /// Adds the graphs that are one step from a state and were not seen.
  void expand(const std::shared_ptr<const BeamState>& state, std::vector<BeamCandidate>& next) {
    for (size_t i = 0; i < state->matches.size() && !stopped(); ++i) {
      const auto delta = delta_of(state->graph, state->matches[i]);
      if (!delta) continue;
      if (!seen_.insert(delta->hash).second) {
        ++report_.duplicates;
        continue;
      }
      const auto graph = apply_match(state->graph, state->matches[i], refused_);
      if (!graph || run_time_ops(*graph) > max_ops_) continue;
      const auto cost = cost_(*graph);
      if (!cost) continue;
      ++report_.candidates;
      if (options_.evaluator != nullptr && !options_.evaluator->admits(*graph)) continue;
      const BeamCandidate candidate{*cost, state, i};
      if (*cost < best_.cost) {
        if (options_.evaluator != nullptr && !options_.evaluator->foldable(*graph)) continue;
        best_ = candidate;
      }
      next.push_back(candidate);
    }
  }

  std::shared_ptr<const BeamState> built(const BeamCandidate& candidate) {
    const BeamState& parent = *candidate.parent;
    const Match& match = parent.matches[candidate.match];
    Graph graph = *apply_match(parent.graph, match);
    const auto delta = delta_of(parent.graph, match);
    Inherited inherited = inherit({parent.graph, parent.matches, *delta}, graph, rules_);
    report_.matches += static_cast<int64_t>(inherited.matches.size());
    return std::make_shared<BeamState>(
        BeamState{std::move(graph), std::move(inherited.matches), candidate.cost, candidate.parent, candidate.match});
  }

  /// The best graph with the steps that lead to it.
  BacktrackResult result(const Graph& graph, double cost) {
    BacktrackResult out{graph, cost, best_.cost, std::move(report_)};
    Graph after;
    double cost_after = best_.cost;
    size_t match = best_.match;
    for (const BeamState* from = best_.parent.get(); from != nullptr; from = from->parent.get()) {
      const bool last = out.report.steps.empty();
      if (last) after = out.graph = *apply_match(from->graph, from->matches[match]);
      out.report.steps.push_back(step_of(from->graph, from->matches[match], after, cost_after - from->cost));
      after = from->graph;
      cost_after = from->cost;
      match = from->match;
    }
    std::ranges::reverse(out.report.steps);
    return out;
  }

  const std::span<const Rule> rules_;
  const GraphCost& cost_;
  const BeamOptions& options_;
  const RefusedWeights* const refused_;
  const Stopwatch watch_;
  std::unordered_set<uint64_t> seen_;
  BeamCandidate best_;
  SearchReport report_;
  size_t max_ops_ = 0;
};

}  // namespace

Result<BacktrackResult> beam_search(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost,
                                    const BeamOptions& options) {
  return Beam(rules, cost, options).run(graph);
}

}  // namespace isomer
