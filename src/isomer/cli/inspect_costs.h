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

/// How a model is predicted to run on several streams.
struct StreamCosts {
  double us = 0;
  size_t with_all_threads = 0;  ///< number of kernels that have the threads of all streams
  NeighborCosts neighbors;
};

struct ModelCosts {
  Metrics metrics;
  std::vector<KernelShare> kernels;
  std::optional<ProcessorPeak> peak;  ///< nothing if another device runs the kernels
  size_t measured = 0;                ///< number of kernels that the database did not have
  std::optional<StreamCosts> streams = {};
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
/// Runs a model once on the streams that are chosen, to know the teams of its kernels, and predicts from their costs
/// how long such a run takes. `shapes` are those of the inputs. Measures what the database does not have.
Result<StreamCosts> stream_costs(const CostChoice& choice, const std::string& file, const Model& model,
                                 const ShapeOptions& shapes);

nlohmann::json to_json(const ModelCosts& costs);
void print_costs(const ModelCosts& costs);
/// Writes the plot that was asked for.
Status write_roofline(const CostChoice& choice, const std::string& model, const ModelCosts& costs);

}  // namespace isomer
