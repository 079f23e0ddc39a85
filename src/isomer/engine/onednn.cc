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

class OnednnEngine : public InProcessEngine {
 public:
  explicit OnednnEngine(int threads)
      : threads_(threads), tuner_(onednn::make_tuner(true)), planner_(onednn::native_block()) {}

  std::string name() const override { return "onednn"; }
  std::string version() const override { return onednn::library_version(); }
  int threads() const override { return threads_; }

  Result<std::optional<ActivationMemory>> activation_memory(const Graph& graph,
                                                            std::span<const TensorType> inputs) override {
    ISOMER_TRY(const Plan plan, Plan::make(graph, inputs, {.threads = threads_}, tuner_));
    return plan.memory();
  }
  const KernelPlanner* planner() const override { return &planner_; }
  Result<KernelTime> time_kernel(const KernelRun& run, double) override {
    return time_on_plan(run, threads_, tuner_, far_);
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
    ISOMER_TRY(Plan plan, Plan::make(model.graph, types, {.threads = threads_}, tuner_));
    plans_.push_back({session, std::move(types), std::make_shared<Plan>(std::move(plan))});
    return plans_.back().plan;
  }

  const int threads_;
  const std::shared_ptr<onednn::Tuner> tuner_;
  const OnednnPlanner planner_;
  std::vector<Planned> plans_;
  std::vector<float> far_;  // what is touched between two runs of a kernel
};

}  // namespace

Result<std::unique_ptr<Engine>> make_onednn_engine(const EngineOptions& options) {
  return std::make_unique<OnednnEngine>(options.threads);
}

}  // namespace isomer
