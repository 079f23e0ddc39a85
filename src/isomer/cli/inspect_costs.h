#pragma once
// isomer inspect --engine: shows the memory that an engine plans for a model and, with --costs, the kernels that it
// runs with their times.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "isomer/cli/common.h"
#include "isomer/cost/cost_model.h"
#include "isomer/cost/kernel_cost.h"
#include "isomer/engine/onednn/processor_peak.h"

namespace isomer {

struct CostChoice {
  bool wanted = false;
  bool engine_given = false;
  std::string roofline = {};  ///< a file for the plot; empty: none
  EngineChoice engine;

  void add_to(CLI::App& command, CommandFiles& files);
};

struct ModelCosts {
  Metrics metrics;
  std::vector<KernelShare> kernels;
  std::optional<ProcessorPeak> peak;  ///< nothing if another device runs the kernels
  size_t measured = 0;                ///< number of kernels that the database did not have
};

/// A compiled plan.
struct PlanFacts {
  ActivationMemory memory;
  double seconds = 0;  ///< to compile the plan
};

/// Returns nothing if the engine does not report its memory.
Result<std::optional<PlanFacts>> plan_facts(const CostChoice& choice, const Candidate& candidate,
                                            const SymbolValues& symbols);

nlohmann::json to_json(const PlanFacts& plan);
void print_plan(const PlanFacts& plan);

/// Measures the kernels that the database does not have, and the processor's peak.
Result<ModelCosts> model_costs(const CostChoice& choice, const Candidate& candidate, const SymbolValues& symbols);

nlohmann::json to_json(const ModelCosts& costs);
void print_costs(const ModelCosts& costs);
/// Writes the plot that was asked for.
Status write_roofline(const CostChoice& choice, const std::string& model, const ModelCosts& costs);

}  // namespace isomer
