#pragma once
// Costs with the memory of the engine's actual plan, for candidates that may be accepted.

#include <unordered_map>

#include "isomer/base/trace.h"
#include "isomer/cost/cost_model.h"
#include "isomer/engine/engine.h"
#include "isomer/ops/work.h"

namespace isomer {

class PlannedCosts : public CostModel {
 public:
  /// Keeps references. If `engine` is nullptr, nothing is planned. `trace` records every plan that is made; nullptr:
  /// disabled.
  PlannedCosts(CostModel& costs, Engine* engine, SymbolValues symbols, Trace* trace = nullptr)
      : costs_(costs), engine_(engine), symbols_(std::move(symbols)), trace_(trace) {}

  /// Returns the metrics of `costs`; for a whole graph, with the peak memory of the engine's plan if the engine reports
  /// it.
  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary = {}) override;
  Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) override { return costs_.kernels(candidate); }
  std::vector<int64_t> channel_blocks() const override { return costs_.channel_blocks(); }
  /// Like Engine::activation_memory, but plans each candidate only once.
  Result<std::optional<ActivationMemory>> memory(const Candidate& candidate);

 private:
  CostModel& costs_;
  Engine* const engine_;
  const SymbolValues symbols_;
  Trace* const trace_;
  std::unordered_map<uint64_t, Result<std::optional<ActivationMemory>>> known_;  // by the candidate's hash
};

}  // namespace isomer
