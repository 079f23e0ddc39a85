#include "isomer/engine/onednn.h"

#include <map>

#include "isomer/engine/in_process.h"
#include "isomer/engine/onednn_kernel.h"
#include "isomer/engine/onednn_planner.h"
#include "isomer/engine/plan_cache.h"
#include "isomer/runtime/onednn/desc.h"
#include "isomer/runtime/onednn/plan.h"

namespace isomer {
namespace {

using onednn::Plan;

class OnednnEngine : public InProcessEngine {
 public:
  explicit OnednnEngine(const EngineOptions& options)
      : threads_(options.threads),
        most_plans_(options.most_plans),
        tuner_(onednn::make_tuner(true)),
        planner_(onednn::native_block()) {}

  std::string name() const override { return "onednn"; }
  std::string version() const override { return onednn::library_version(); }
  int threads() const override { return threads_; }

  bool tunes() const override { return true; }
  void keep_tunings(std::shared_ptr<TuningStore> store) override {
    tuner_ = onednn::make_tuner(true, std::move(store));
  }

  Result<std::optional<ActivationMemory>> activation_memory(const Graph& graph,
                                                            std::span<const TensorType> inputs) override {
    ISOMER_TRY(const Plan plan, make_plan(graph, inputs));
    return plan.memory();
  }
  const KernelPlanner* planner() const override { return &planner_; }
  Result<KernelTime> time_kernel(const KernelRun& run, double) override {
    return time_on_plan(run, threads_, tuner_, far_);
  }
  /// A plan's own account of its kernels leaves nothing out.
  Result<double> kernel_overhead() override { return 0; }

  Status unload(SessionId session) override {
    plans_.erase(session);
    return InProcessEngine::unload(session);
  }

 private:
  Result<Run> prepare(SessionId session, const Model& model, std::vector<Tensor> inputs) override {
    std::vector<TensorType> types;
    for (const Tensor& input : inputs) types.push_back(input.type());
    PlanCache& plans = plans_.try_emplace(session, most_plans_).first->second;
    ISOMER_TRY(auto plan, plans.get(types, [&] { return make_plan(model.graph, types); }));
    return [plan = std::move(plan), inputs = std::move(inputs)] { return plan->run(inputs); };
  }

  Result<Plan> make_plan(const Graph& graph, std::span<const TensorType> types) const {
    return Plan::make(graph, types, {.threads = threads_}, tuner_);
  }

  const int threads_;
  const size_t most_plans_;
  std::shared_ptr<onednn::Tuner> tuner_;
  const OnednnPlanner planner_;
  std::map<SessionId, PlanCache> plans_;
  std::vector<float> far_;  // what is touched between two runs of a kernel
};

}  // namespace

Result<std::unique_ptr<Engine>> make_onednn_engine(const EngineOptions& options) {
  return std::make_unique<OnednnEngine>(options);
}

}  // namespace isomer
