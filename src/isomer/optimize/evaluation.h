#pragma once
// Evaluates the candidates of one optimization: by costs and, if there is an engine, by runs on it.

#include <memory>

#include "isomer/cost/planned_costs.h"
#include "isomer/optimize/optimize.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/preparation.h"

namespace isomer {

struct Evaluation {
  const Objective& objective;
  bool times_graphs = true;  ///< complete graphs are timed, at least for the final confirmation
  Costs costs = {};
  std::unique_ptr<PlannedCosts> planned = nullptr;  ///< `costs`, with the memory of the engine's own plan
  std::unique_ptr<EngineRuns> runs = nullptr;       ///< nullptr without an engine
  std::unique_ptr<Preparation> preparation = nullptr;
  std::unique_ptr<Evaluator> evaluator = nullptr;  ///< evaluates the candidates of a search

  /// Returns whether the costs are those of the engine's kernels, or of the roofline model if that was chosen.
  bool has_costs() const { return costs.kernels != nullptr || costs.engine == nullptr; }
  /// Returns the costs that decide whether a candidate is returned. If memory matters, they have the planned memory.
  CostModel& deciding() const { return objective.uses_memory() ? *planned : *costs.model; }
  /// Ends measurements and folding at this deadline.
  void set_deadline(const Deadline& deadline) const;
  /// Sets the deadline for the final confirmation. Complete graphs are measured even after it, but every call to an
  /// engine ends soon. If the costs decide, kernels are measured until then.
  void confirm_until(const Deadline& deadline) const;
  /// Returns whether a candidate keeps all limits. One without a cost does not.
  bool within_limits(const Candidate& candidate) const;
  /// Returns whether the costs predict that `after` is better, and at least `ratio` times as good.
  bool predicted_better(const Candidate& before, const Candidate& after, double ratio = 1) const;

 private:
  /// Bounds the time of each call to an engine.
  void bound_calls(const Deadline& deadline) const;
};

/// Returns the evaluation of candidates that are derived from `model`; it keeps references to the model and the
/// options. An Error if there is no such engine, if the engine does not start by the deadline, or if the profile
/// database or the folder for candidates cannot be opened.
Result<Evaluation> make_evaluation(const OptimizeOptions& options, const Model& model, const SymbolValues& symbols,
                                   const Deadline& deadline);

}  // namespace isomer
