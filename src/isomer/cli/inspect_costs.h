#pragma once
// isomer inspect --costs: which kernels an engine runs for a model, and how long each takes.

#include <nlohmann/json.hpp>
#include <string>

#include "isomer/cli/common.h"
#include "isomer/cost/cost_model.h"
#include "isomer/cost/kernel_cost.h"

namespace isomer {

struct CostChoice {
  bool wanted = false;
  EngineChoice engine;
  std::filesystem::path profile_db = default_profile_db();

  void add_to(CLI::App& command);
};

struct ModelCosts {
  Metrics metrics;
  std::vector<KernelShare> kernels;
  size_t measured = 0;  ///< kernels that the database did not know
};

/// Measures what the database does not know.
Result<ModelCosts> model_costs(const CostChoice& choice, const Graph& graph, const SymbolValues& symbols);

nlohmann::json to_json(const ModelCosts& costs);
void print_costs(const ModelCosts& costs);

}  // namespace isomer
