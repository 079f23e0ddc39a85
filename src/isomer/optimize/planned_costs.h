#pragma once
// Costs with the memory that the engine really plans, for graphs that may be handed out.

#include <unordered_map>

#include "isomer/base/trace.h"
#include "isomer/cost/cost_model.h"
#include "isomer/engine/engine.h"
#include "isomer/runtime/work.h"

namespace isomer {

class PlannedCosts : public CostModel {
 public:
  /// Keeps references. `engine` may be null: then nothing is planned. `trace` gets every plan that is made; null:
  /// nobody.
  PlannedCosts(CostModel& costs, Engine* engine, SymbolValues symbols, Trace* trace = nullptr)
      : costs_(costs), engine_(engine), symbols_(std::move(symbols)), trace_(trace) {}

  /// The costs' metrics; of a whole graph with the peak memory of the engine's plan, where the engine tells it.
  Result<Metrics> metrics(const Graph& graph, const Boundary& boundary = {}) override;
  Result<std::vector<PlannedKernel>> kernels(const Graph& graph) override { return costs_.kernels(graph); }
  /// As Engine::activation_memory, planned once for every graph.
  Result<std::optional<ActivationMemory>> memory(const Graph& graph);

 private:
  CostModel& costs_;
  Engine* const engine_;
  const SymbolValues symbols_;
  Trace* const trace_;
  std::unordered_map<uint64_t, Result<std::optional<ActivationMemory>>> known_;  // by the graph's hash
};

}  // namespace isomer
