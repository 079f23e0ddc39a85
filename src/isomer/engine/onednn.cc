#include "isomer/engine/onednn.h"

#include <algorithm>

#include "isomer/engine/loaded_models.h"
#include "isomer/runtime/onednn/plan.h"

namespace isomer {
namespace {

using onednn::Plan;

class OnednnEngine : public Engine {
 public:
  explicit OnednnEngine(int threads) : threads_(threads), tuner_(onednn::make_tuner(true)) {}

  std::string name() const override { return "onednn"; }
  std::string version() const override { return onednn::library_version(); }
  int threads() const override { return threads_; }

  Result<SessionId> load(const std::filesystem::path& onnx) override { return models_.load(onnx); }
  Status unload(SessionId session) override {
    std::erase_if(plans_, [&](const Planned& planned) { return planned.session == session; });
    return models_.unload(session);
  }

  Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) override {
    ISOMER_TRY(const Bound bound, bind(session, inputs));
    return bound.plan->run(bound.inputs);
  }

  Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                            std::span<const std::vector<NamedTensor>> inputs,
                                                            const TimingOptions& options) override {
    if (sessions.size() != inputs.size()) return fail("{} sessions, {} inputs", sessions.size(), inputs.size());
    std::vector<std::function<Status()>> runs;
    for (size_t i = 0; i < sessions.size(); ++i) {
      ISOMER_TRY(Bound bound, bind(sessions[i], inputs[i]));
      runs.emplace_back([bound = std::move(bound)]() -> Status {
        ISOMER_TRY(const auto outputs, bound.plan->run(bound.inputs));
        return {};
      });
    }
    return time_in_turn(runs, options);
  }

 private:
  /// One plan for every session and set of input types.
  struct Planned {
    SessionId session;
    std::vector<TensorType> types;
    std::shared_ptr<Plan> plan;
  };
  struct Bound {
    std::shared_ptr<Plan> plan;
    std::vector<Tensor> inputs;
  };

  Result<Bound> bind(SessionId session, std::span<const NamedTensor> inputs) {
    ISOMER_TRY(const Model* model, models_.find(session));
    ISOMER_TRY(auto ordered, ordered_inputs(*model, inputs));
    std::vector<TensorType> types;
    for (const Tensor& input : ordered) types.push_back(input.type());
    const auto known = std::ranges::find_if(
        plans_, [&](const Planned& planned) { return planned.session == session && planned.types == types; });
    if (known != plans_.end()) return Bound{known->plan, std::move(ordered)};
    ISOMER_TRY(Plan plan, Plan::make(model->graph, types, {.threads = threads_}, tuner_));
    plans_.push_back({session, std::move(types), std::make_shared<Plan>(std::move(plan))});
    return Bound{plans_.back().plan, std::move(ordered)};
  }

  const int threads_;
  const std::shared_ptr<onednn::Tuner> tuner_;
  LoadedModels models_;
  std::vector<Planned> plans_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_onednn_engine(const EngineOptions& options) {
  return std::make_unique<OnednnEngine>(options.threads);
}

}  // namespace isomer
