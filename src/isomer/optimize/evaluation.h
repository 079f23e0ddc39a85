#pragma once
// What evaluates the graphs of one optimization: costs, and where there is an engine, runs on it.

#include <memory>

#include "isomer/cost/planned_costs.h"
#include "isomer/optimize/optimize.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/preparation.h"

namespace isomer {

struct Evaluation {
  const Objective& objective;
  bool times_graphs = true;  ///< complete graphs are timed, if only to confirm what the costs decided
  Costs costs = {};
  std::unique_ptr<PlannedCosts> planned = nullptr;  ///< `costs`, with the memory that the engine really plans
  std::unique_ptr<EngineRuns> runs = nullptr;       ///< nullptr without an engine
  std::unique_ptr<Preparation> preparation = nullptr;
  std::unique_ptr<Evaluator> evaluator = nullptr;  ///< of the candidates of a search

  /// Whether the costs are the engine's own, or the roofline's where that is what was asked for.
  bool has_costs() const { return costs.kernels != nullptr || costs.engine == nullptr; }
  /// The costs that decide whether a graph is returned: with planned memory, where that matters.
  CostModel& deciding() const { return objective.uses_memory() ? *planned : *costs.model; }
  /// After this, nothing is measured or folded.
  void set_deadline(const Deadline& deadline) const;
  /// The same for the final confirmation: graphs are measured even after the deadline, but no call to an engine may
  /// hang for long. Kernels are measured until then where the costs decide.
  void confirm_until(const Deadline& deadline) const;
  /// What has no cost is not known to keep a limit.
  bool within_limits(const Graph& graph) const;
  /// Whether the costs say that `after` is better, and at least `ratio` times as good.
  bool predicted_better(const Graph& before, const Graph& after, double ratio = 1) const;

 private:
  /// How long calls to the engines may take.
  void bound_calls(const Deadline& deadline) const;
};

/// The evaluation of graphs that come of `model`; it refers to it and to the options. An Error where there is no such
/// engine, it does not start by the deadline, or the profile database or the folder of candidates cannot be opened.
Result<Evaluation> make_evaluation(const OptimizeOptions& options, const Model& model, const SymbolValues& symbols,
                                   const Deadline& deadline);

}  // namespace isomer
