#include "isomer/engine/onednn.h"

#include <algorithm>

#include "isomer/engine/in_process.h"
#include "isomer/engine/onednn_kernel.h"
#include "isomer/engine/onednn_planner.h"
#include "isomer/runtime/onednn/desc.h"
#include "isomer/runtime/onednn/plan.h"

namespace isomer {
namespace {

using onednn::Plan;

/// Counts changes of our own kernels, and of how plans choose: older measurements of kernels do not hold any more.
constexpr int kRevision = 2;

class OnednnEngine : public InProcessEngine {
 public:
  OnednnEngine(int threads, DType dtype)
      : threads_(threads), dtype_(dtype), tuner_(onednn::make_tuner(true)), planner_(onednn::native_block()) {}

  std::string name() const override { return "onednn"; }
  /// Kernels of fewer bits are others: what they take is kept apart by the version.
  std::string version() const override {
    const std::string version = fmt::format("{}+{}", onednn::library_version(), kRevision);
    return dtype_ == DType::Float ? version : fmt::format("{}, {}", version, dtype_name(dtype_));
  }
  int threads() const override { return threads_; }

  const KernelPlanner* planner() const override { return &planner_; }
  Result<KernelTime> time_kernel(const KernelRun& run, double) override {
    return time_on_plan(run, {.threads = threads_, .dtype = dtype_}, tuner_, far_);
  }
  /// A plan's own account of its kernels leaves nothing out.
  Result<double> kernel_overhead() override { return 0; }

  Status unload(SessionId session) override {
    std::erase_if(plans_, [&](const Planned& planned) { return planned.session == session; });
    return InProcessEngine::unload(session);
  }

 private:
  /// One plan for every session and set of input types.
  struct Planned {
    SessionId session;
    std::vector<TensorType> types;
    std::shared_ptr<Plan> plan;
  };

  Result<Run> prepare(SessionId session, const Model& model, std::vector<Tensor> inputs) override {
    ISOMER_TRY(auto plan, plan_for(session, model, inputs));
    return [plan = std::move(plan), inputs = std::move(inputs)] { return plan->run(inputs); };
  }

  Result<std::shared_ptr<Plan>> plan_for(SessionId session, const Model& model, std::span<const Tensor> inputs) {
    std::vector<TensorType> types;
    for (const Tensor& input : inputs) types.push_back(input.type());
    const auto known = std::ranges::find_if(
        plans_, [&](const Planned& planned) { return planned.session == session && planned.types == types; });
    if (known != plans_.end()) return known->plan;
    ISOMER_TRY(Plan plan, Plan::make(model.graph, types, {.threads = threads_, .dtype = dtype_}, tuner_));
    plans_.push_back({session, std::move(types), std::make_shared<Plan>(std::move(plan))});
    return plans_.back().plan;
  }

  const int threads_;
  const DType dtype_;
  const std::shared_ptr<onednn::Tuner> tuner_;
  const OnednnPlanner planner_;
  std::vector<Planned> plans_;
  std::vector<float> far_;  // what is touched between two runs of a kernel
};

}  // namespace

Result<std::unique_ptr<Engine>> make_onednn_engine(const EngineOptions& options) {
  ISOMER_CHECK(onednn::check_dtype(options.dtype));
  return std::make_unique<OnednnEngine>(options.threads, options.dtype);
}

}  // namespace isomer
