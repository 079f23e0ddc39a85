#pragma once
// Creates the cost model of an engine.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "isomer/cost/kernel_cost.h"
#include "isomer/cost/roofline.h"
#include "isomer/engine/engine.h"

namespace isomer {

struct CostOptions {
  /// "ort", "openvino", "onednn", or "roofline" (a cost model that needs no device).
  std::string engine = "ort";
  EngineOptions engine_options = {};
  RooflineOptions roofline = {};          ///< for engine "roofline"
  std::filesystem::path profile_db = {};  ///< file that keeps measured kernels between runs; empty: only in memory
  bool locked = false;  ///< all costs come from `profile_db`, which does not change (ProfileDb::open_locked)
};

/// A cost model with the objects that it refers to.
struct Costs {
  std::unique_ptr<Engine> engine;       ///< nullptr for the roofline model
  std::unique_ptr<Engine> exact;        ///< the same engine in f32, if `engine` computes with reduced precision
  std::shared_ptr<ProfileDb> profiles;  ///< nullptr for the roofline model
  std::unique_ptr<CostModel> model;
  KernelCost* kernels = nullptr;  ///< `model`, if it measures kernels; nullptr for a roofline
};

/// Returns the options for kernels that have the threads of all streams, one after the other.
CostOptions with_all_threads(CostOptions options);

/// Returns costs for `graph` and graphs derived from it, for these values of its symbols. An Error if there is no such
/// engine, if the profile database cannot be opened, or if costs are locked but the engine does not describe its
/// kernels. `trace` records every kernel that is measured; nullptr: disabled.
Result<Costs> make_costs(const CostOptions& options, const Graph& graph, const SymbolValues& symbols,
                         const std::function<void(const std::string&)>& progress, Trace* trace = nullptr);

}  // namespace isomer
