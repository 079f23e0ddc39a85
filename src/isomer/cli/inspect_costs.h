#pragma once
// isomer inspect --engine: shows the memory that an engine plans for a model and, with --costs, the kernels that it
// runs with their times.

#include <nlohmann/json.hpp>
#include <string>

#include "isomer/cli/common.h"
#include "isomer/cost/cost_model.h"
#include "isomer/cost/kernel_cost.h"

namespace isomer {

struct CostChoice {
  bool wanted = false;
  bool engine_given = false;
  EngineChoice engine;

  void add_to(CLI::App& command, CommandFiles& files);
};

struct ModelCosts {
  Metrics metrics;
  std::vector<KernelShare> kernels;
  size_t measured = 0;  ///< number of kernels that the database did not have
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

/// Measures the kernels that the database does not have.
Result<ModelCosts> model_costs(const CostChoice& choice, const Candidate& candidate, const SymbolValues& symbols);

nlohmann::json to_json(const ModelCosts& costs);
void print_costs(const ModelCosts& costs);

}  // namespace isomer
