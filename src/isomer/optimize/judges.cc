#include "isomer/optimize/judges.h"

#include "isomer/optimize/predicting_oracle.h"

namespace isomer {

void Judges::bound_calls(const Deadline& deadline) const {
  for (Engine* const engine : {costs.engine.get(), costs.exact.get()})
    if (engine != nullptr) engine->set_deadline(deadline);
}

void Judges::set_deadline(const Deadline& deadline) const {
  bound_calls(deadline);
  costs.model->measure_until(deadline);
  if (measuring != nullptr) measuring->deadline = deadline;
}

void Judges::confirm_until(const Deadline& deadline) const {
  bound_calls(deadline);
  const bool costs_decide = !times_graphs || !objective.is_latency() || !objective.limits().empty();
  if (costs_decide) costs.model->measure_until(deadline);
  if (measuring != nullptr) measuring->deadline = Deadline::never();
}

bool Judges::within_limits(const Graph& graph) const {
  if (objective.limits().empty()) return true;
  const auto metrics = deciding().metrics(graph);
  return metrics && objective.within_limits(*metrics);
}

bool Judges::predicted_better(const Graph& before, const Graph& after, double ratio) const {
  const auto metrics_before = deciding().metrics(before);
  const auto metrics_after = deciding().metrics(after);
  if (!metrics_before || !metrics_after) return false;
  const double was = objective(*metrics_before), is = objective(*metrics_after);
  return is < was && is * ratio <= was;
}

Result<Judges> make_judges(const OptimizeOptions& options, const Model& model, const SymbolValues& symbols,
                           const Deadline& deadline) {
  Judges judges{.objective = options.objective, .times_graphs = times_graphs(options)};
  Costs& costs = judges.costs;
  CostOptions bounded = options.costs;
  bounded.engine_options.deadline = deadline;
  ISOMER_TRY(costs, make_costs(bounded, model.graph, symbols, options.progress, options.trace));
  judges.planned = std::make_unique<PlannedCosts>(*costs.model, costs.engine.get(), symbols, options.trace);
  if (costs.engine == nullptr) {
    judges.predicting = std::make_unique<PredictingOracle>(*costs.model, options.objective, nullptr);
    return judges;
  }
  ISOMER_TRY(TempDir folder, TempDir::make());
  Engine& exact = costs.exact == nullptr ? *costs.engine : *costs.exact;
  judges.measuring = std::make_unique<EngineOracle>(*costs.engine, exact, model, options.input, options.shapes,
                                                    options.seed, options.tolerance, std::move(folder));
  judges.measuring->trace = options.trace;
  // Where the engine's kernels are not known, no prediction rules anything out.
  const bool timed = options.objective.is_latency() && judges.times_graphs;
  if (costs.kernels == nullptr && timed) return judges;
  if (costs.kernels == nullptr && options.objective.is_latency())
    return fail("engine '{}' has no costs of kernels that could decide", options.costs.engine);
  Oracle* const measured = timed ? judges.measuring.get() : nullptr;
  judges.predicting = std::make_unique<PredictingOracle>(*costs.model, options.objective, measured, &judges.deciding());
  if (measured != nullptr)
    judges.foresight = std::make_unique<PredictingOracle>(*costs.model, options.objective, nullptr, &judges.deciding());
  return judges;
}

}  // namespace isomer
