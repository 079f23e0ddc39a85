#pragma once
// The cost model that goes with an engine.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "isomer/cost/kernel_cost.h"
#include "isomer/cost/roofline.h"
#include "isomer/engine/engine.h"

namespace isomer {

struct CostOptions {
  /// "ort", "onednn", or "roofline": a cost model that needs no device.
  std::string engine = "ort";
  EngineOptions engine_options = {};
  RooflineOptions roofline = {};          ///< of the engine of that name
  std::filesystem::path profile_db = {};  ///< keeps measured kernels from run to run; empty: only for this one
  bool locked = false;  ///< all costs come from `profile_db`, which stays as it is (ProfileDb::open_locked)
};

/// A cost model with what it stands on.
struct Costs {
  std::unique_ptr<Engine> engine;       ///< null for the roofline model
  std::unique_ptr<Engine> exact;        ///< the same in f32, where `engine` computes in fewer bits
  std::shared_ptr<ProfileDb> profiles;  ///< likewise
  std::unique_ptr<CostModel> model;
  KernelCost* kernels = nullptr;  ///< `model`, where it is of measured kernels; else it is a roofline
};

/// Costs of `graph` and graphs that come of it, for these values of its symbols. An Error where there is no such engine
/// or the profile database cannot be opened, or where costs are to be locked but the engine does not tell its kernels.
/// `trace` gets every kernel that is measured; nullptr: disabled.
Result<Costs> make_costs(const CostOptions& options, const Graph& graph, const SymbolValues& symbols,
                         const std::function<void(const std::string&)>& progress, Trace* trace = nullptr);

}  // namespace isomer
