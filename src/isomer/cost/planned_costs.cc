#include "isomer/cost/planned_costs.h"

#include "isomer/engine/inputs.h"

namespace isomer {

Result<Metrics> PlannedCosts::metrics(const Candidate& candidate, const Boundary& boundary) {
  ISOMER_TRY(Metrics metrics, costs_.metrics(candidate, boundary));
  if (!boundary.inputs.empty() || !boundary.outputs.empty()) return metrics;
  ISOMER_TRY(const auto planned, memory(candidate));
  if (planned) metrics.peak_bytes = static_cast<double>(planned->total());
  return metrics;
}

Result<std::optional<ActivationMemory>> PlannedCosts::memory(const Candidate& candidate) {
  if (engine_ == nullptr) return std::nullopt;
  const uint64_t hash = candidate.hash();
  if (const auto known = known_.find(hash); known != known_.end()) return known->second;
  const TraceScope scope(trace_, "plan the memory", "measurement");
  ISOMER_TRY(const auto inputs, concrete_inputs(candidate.graph, symbols_));
  return known_.emplace(hash, engine_->activation_memory(candidate, inputs)).first->second;
}

}  // namespace isomer
