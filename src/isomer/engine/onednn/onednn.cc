#include "isomer/engine/onednn/onednn.h"

#include <cmath>
#include <map>

#include "isomer/engine/in_process.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/kernel.h"
#include "isomer/engine/onednn/neighbors.h"
#include "isomer/engine/onednn/partial_run.h"
#include "isomer/engine/onednn/plan.h"
#include "isomer/engine/onednn/plan_cache.h"
#include "isomer/engine/onednn/planner.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer {
namespace {

using onednn::Plan;

/// Increment this when our own kernels, or how plans choose, change: older measurements of kernels are then invalid.
constexpr int kRevision = 21;

/// Adds a span for a run from `start` to `end`, and within it those of its kernels.
void add_spans(const Plan& plan, const onednn::TracedRun& run, double start, double end, Trace& trace, size_t track) {
  const double begin = trace.time(run.begin);
  const std::vector<onednn::PlanKernel> kernels = plan.kernels();
  std::vector<size_t> tracks{track};
  const std::string first = trace.tracks()[track];
  while (tracks.size() < plan.streams())
    tracks.push_back(trace.add_track(fmt::format("{}, stream {}", first, tracks.size() + 1)));
  trace.add({.name = "run",
             .category = "run",
             .start = start,
             .duration = end - start,
             .track = track,
             .notes = {{"threads", static_cast<double>(plan.threads())},
                       {"streams", static_cast<double>(plan.streams())},
                       {"kernels", static_cast<double>(kernels.size())},
                       {"activation bytes", static_cast<double>(plan.memory().total())}}});
  for (size_t k = 0; k < kernels.size(); ++k) {
    const onednn::PlanKernel& kernel = kernels[k];
    trace.add({.name = kernel.name,
               .category = kernel.name == "reorder" ? "reorder" : "kernel",
               .start = begin + run.kernels[k].start,
               .duration = run.kernels[k].duration,
               .track = tracks[run.kernels[k].stream],
               .notes = {{"implementation", kernel.implementation},
                         {"layout", kernel.layout},
                         {"result", kernel.value},
                         {"bytes", static_cast<double>(kernel.bytes)},
                         {"threads", static_cast<double>(kernel.threads)}}});
  }
}

class OnednnEngine : public InProcessEngine {
 public:
  explicit OnednnEngine(const EngineOptions& options)
      : threads_(options.threads),
        streams_(options.streams),
        stages_(options.stages),
        dtype_(options.dtype),
        max_plans_(options.max_plans),
        noise_filter_(arithmetic_probe(options.threads)) {
    OnednnEngine::keep_tunings(nullptr);
  }

  std::string name() const override { return "onednn"; }
  /// Kernels with reduced precision are different ones: the version keeps their times separate.
  std::string version() const override {
    const std::string version = fmt::format("{}+{}", onednn::library_version(), kRevision);
    return dtype_ == DType::Float ? version : fmt::format("{}, {}", version, dtype_name(dtype_));
  }
  int threads() const override { return threads_; }

  bool tunes() const override { return true; }
  void keep_tunings(std::shared_ptr<TuningStore> store) override {
    tuner_ = onednn::make_tuner(true, std::move(store));
    planner_ = std::make_unique<OnednnPlanner>(onednn::native_block(), tuner_, threads_, dtype_);
  }

  Result<std::optional<ActivationMemory>> activation_memory(const Candidate& candidate,
                                                            std::span<const TensorType> inputs) override {
    ISOMER_TRY(const Plan plan, make_plan(candidate, inputs));
    return plan.memory();
  }
  Result<std::vector<Tensor>> run_traced(SessionId session, std::span<const NamedTensor> inputs, Trace& trace,
                                         size_t track) override {
    ISOMER_TRY(const Call what, call(session, inputs));
    std::shared_ptr<const Plan> plan;
    {
      const std::lock_guard<std::mutex> lock(preparing_);
      ISOMER_TRY(plan, plan_for(session, what.model, what.inputs));
    }
    const double start = trace.now();
    ISOMER_TRY(onednn::TracedRun run, plan->trace(what.inputs));
    const double end = trace.now();
    add_spans(*plan, run, start, end, trace, track);
    return std::move(run.outputs);
  }
  const KernelPlanner* planner() const override { return planner_.get(); }
  std::vector<int64_t> channel_blocks() const override { return {onednn::native_block()}; }
  Result<KernelTime> time_kernel(const KernelRun& run, double) override {
    return time_on_plan(run, {.threads = threads_, .dtype = dtype_}, tuner_, noise_filter_, far_memory_);
  }
  /// A plan's own times of its kernels include everything.
  Result<double> kernel_overhead() override { return 0; }
  Result<NeighborTimes> neighbor_times() override { return onednn::neighbor_times(); }

  Status unload(SessionId session) override {
    plans_.erase(session);
    decisions_.erase(session);
    return InProcessEngine::unload(session);
  }

 private:
  Status accept(SessionId session, const Model& model) override {
    ISOMER_TRY(Decisions decisions, stored_decisions(model));
    decisions_.emplace(session, std::move(decisions));
    return {};
  }
  class PlanRun : public Run {
   public:
    PlanRun(std::shared_ptr<const Plan> plan, std::vector<Tensor> inputs)
        : plan_(std::move(plan)), inputs_(std::move(inputs)) {}
    Result<std::vector<Tensor>> whole() override { return plan_->run(inputs_); }
    Result<bool> part(double us) override {
      if (begun_ == nullptr && std::isinf(us)) return Run::part(us);
      if (begun_ == nullptr) {
        ISOMER_TRY(begun_, plan_->begin(inputs_));
      }
      const Result<bool> ended = begun_->part(us);
      if (!ended || *ended) begun_ = nullptr;
      return ended;
    }

   private:
    const std::shared_ptr<const Plan> plan_;
    const std::vector<Tensor> inputs_;
    std::unique_ptr<onednn::PartialRun> begun_;
  };

  Result<std::unique_ptr<Run>> prepare(SessionId session, const Model& model, std::vector<Tensor> inputs) override {
    ISOMER_TRY(auto plan, plan_for(session, model, inputs));
    return std::make_unique<PlanRun>(std::move(plan), std::move(inputs));
  }

  Result<std::shared_ptr<const Plan>> plan_for(SessionId session, const Model& model, std::span<const Tensor> inputs) {
    std::vector<TensorType> types;
    for (const Tensor& input : inputs) types.push_back(input.type());
    PlanCache& plans = plans_.try_emplace(session, max_plans_).first->second;
    return plans.get(types, [&] { return make_plan({model.graph, decisions_.at(session)}, types); });
  }

  Result<Plan> make_plan(const Candidate& candidate, std::span<const TensorType> types) const {
    return Plan::make(candidate.graph, types,
                      {.threads = threads_,
                       .streams = streams_,
                       .stages = stages_,
                       .dtype = dtype_,
                       .decisions = candidate.decisions},
                      tuner_);
  }

  const int threads_;
  const int streams_;
  const bool stages_;
  const DType dtype_;
  const size_t max_plans_;
  std::shared_ptr<onednn::Tuner> tuner_;
  std::unique_ptr<OnednnPlanner> planner_;
  NoiseFilter noise_filter_;
  onednn::FarMemory far_memory_;
  std::map<SessionId, Decisions> decisions_;
  std::map<SessionId, PlanCache> plans_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_onednn_engine(const EngineOptions& options) {
  ISOMER_CHECK(onednn::check_dtype(options.dtype));
  return std::make_unique<OnednnEngine>(options);
}

}  // namespace isomer
