#include "isomer/cost/costs.h"

#include "isomer/cost/tunings.h"

namespace isomer {

namespace {

/// About one core with wide vectors.
RooflineOptions one_core(const Engine& engine) {
  return {.flops_per_second = 150e9,
          .bytes_per_second = 15e9,
          .kernel_overhead_us = 1,
          .channel_blocks = engine.channel_blocks()};
}

}  // namespace

CostOptions with_all_threads(CostOptions options) {
  options.engine_options.threads = options.engine_options.streams;
  options.engine_options.streams = 1;
  return options;
}

Result<Costs> make_costs(const CostOptions& options, const Graph& graph, const SymbolValues& symbols,
                         const std::function<void(const std::string&)>& progress, Trace* trace) {
  Costs costs;
  if (options.engine == "roofline") {
    ISOMER_CHECK(check(options.roofline));
    costs.model = std::make_unique<RooflineCost>(symbols, options.roofline);
    return costs;
  }
  ISOMER_TRY(costs.engine, make_engine(options.engine, options.engine_options));
  if (options.engine_options.dtype != DType::Float) {
    EngineOptions in_f32 = options.engine_options;
    in_f32.dtype = DType::Float;
    ISOMER_TRY(costs.exact, make_engine(options.engine, in_f32));
  }
  if (costs.engine->planner() == nullptr) {
    if (options.locked) return fail("{} has no costs of kernels, which --locked needs", costs.engine->label());
    costs.model = std::make_unique<RooflineCost>(symbols, one_core(*costs.engine));
    return costs;
  }
  ISOMER_TRY(ProfileDb profiles,
             options.locked ? ProfileDb::open_locked(options.profile_db) : ProfileDb::open(options.profile_db));
  costs.profiles = std::make_shared<ProfileDb>(std::move(profiles));
  if (costs.engine->tunes()) ISOMER_CHECK(keep_tunings(*costs.engine, costs.profiles));
  KernelCostOptions kernels{.symbols = symbols, .footprint = footprint(graph, symbols), .trace = trace};
  kernels.progress = [progress](size_t done, const std::string& kernel) {
    progress(fmt::format("measuring kernel {}: {}", done + 1, kernel));
  };
  ISOMER_TRY(auto model, KernelCost::make(*costs.engine, *costs.profiles, std::move(kernels)));
  costs.kernels = model.get();
  costs.model = std::move(model);
  return costs;
}

}  // namespace isomer
