#include "isomer/cost/planned_costs.h"

#include "isomer/engine/inputs.h"

namespace isomer {

Result<Metrics> PlannedCosts::metrics(const Graph& graph, const Boundary& boundary, const Decisions& decisions) {
  ISOMER_TRY(Metrics metrics, costs_.metrics(graph, boundary, decisions));
  // The engine plans without decisions.
  if (!boundary.inputs.empty() || !boundary.outputs.empty() || !decisions.empty()) return metrics;
  ISOMER_TRY(const auto planned, memory(graph));
  if (planned) metrics.peak_bytes = static_cast<double>(planned->total());
  return metrics;
}

Result<std::optional<ActivationMemory>> PlannedCosts::memory(const Graph& graph) {
  if (engine_ == nullptr) return std::nullopt;
  if (const auto known = known_.find(graph.hash()); known != known_.end()) return known->second;
  const TraceScope scope(trace_, "plan the memory", "measurement");
  ISOMER_TRY(const auto inputs, concrete_inputs(graph, symbols_));
  return known_.emplace(graph.hash(), engine_->activation_memory(graph, inputs)).first->second;
}

}  // namespace isomer
