#include "isomer/optimize/evaluation.h"

#include "isomer/search/engine_evaluator.h"

namespace isomer {

void Evaluation::bound_calls(const Deadline& deadline) const {
  for (Engine* const engine : {costs.engine.get(), costs.exact.get()})
    if (engine != nullptr) engine->set_deadline(deadline);
}

void Evaluation::set_deadline(const Deadline& deadline) const {
  bound_calls(deadline);
  costs.model->measure_until(deadline);
  preparation->fold_until(deadline);
  if (runs != nullptr) runs->deadline = deadline;
}

void Evaluation::confirm_until(const Deadline& deadline) const {
  bound_calls(deadline);
  const bool costs_decide = !times_graphs || !objective.is_latency() || !objective.limits().empty();
  if (costs_decide) costs.model->measure_until(deadline);
  if (runs != nullptr) runs->deadline = Deadline::never();
}

bool Evaluation::within_limits(const Candidate& candidate) const {
  if (objective.limits().empty()) return true;
  const auto metrics = deciding().metrics(candidate);
  return metrics && objective.within_limits(*metrics);
}

bool Evaluation::predicted_better(const Candidate& before, const Candidate& after, double ratio) const {
  const auto metrics_before = deciding().metrics(before);
  const auto metrics_after = deciding().metrics(after);
  if (!metrics_before || !metrics_after) return false;
  const double was = objective(*metrics_before), is = objective(*metrics_after);
  return is < was && is * ratio <= was;
}

Result<Evaluation> make_evaluation(const OptimizeOptions& options, const Model& model, const SymbolValues& symbols,
                                   const Deadline& deadline) {
  Evaluation out{.objective = options.objective, .times_graphs = times_graphs(options)};
  Costs& costs = out.costs;
  CostOptions bounded = options.costs;
  bounded.engine_options.deadline = deadline;
  ISOMER_TRY(costs, make_costs(bounded, model.graph, symbols, options.progress, options.trace));
  if (options.search.layout != SearchOptions().layout && costs.engine != nullptr && !costs.model->obeys_layouts())
    return fail("--layout {}: engine '{}' chooses layouts by itself; onednn obeys decisions about them",
                options.search.layout, options.costs.engine);
  out.planned = std::make_unique<PlannedCosts>(*costs.model, costs.engine.get(), symbols, options.trace);
  out.preparation = std::make_unique<Preparation>(model, options.search.threads());
  if (costs.engine != nullptr) {
    ISOMER_TRY(TempDir folder, TempDir::make());
    Engine& exact = costs.exact == nullptr ? *costs.engine : *costs.exact;
    out.runs = std::make_unique<EngineRuns>(*costs.engine, exact, model, options.input, options.shapes, options.seed,
                                            options.tolerance, std::move(folder));
    out.runs->trace = options.trace;
  }
  const bool by_kernels = costs.kernels != nullptr;
  const bool timed = costs.engine != nullptr && options.objective.is_latency() && out.times_graphs;
  if (costs.engine != nullptr && options.objective.is_latency() && !timed && !by_kernels)
    return fail("{} has no costs of kernels, which --costs-only needs", costs.engine->label());
  Preparation* const preparation = out.preparation.get();
  if (timed)
    out.evaluator = std::make_unique<EngineEvaluator>(*out.runs, by_kernels, options.costs.engine_options.streams == 1,
                                                      *costs.model, options.objective, &out.deciding(), preparation);
  else
    out.evaluator = std::make_unique<CostEvaluator>(*costs.model, options.objective, &out.deciding(), preparation);
  return out;
}

}  // namespace isomer
