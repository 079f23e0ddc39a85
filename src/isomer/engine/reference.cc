#include "isomer/engine/reference.h"

#include "isomer/base/version.h"
#include "isomer/engine/loaded_models.h"
#include "isomer/runtime/reference/executor.h"

namespace isomer {
namespace {

class ReferenceEngine : public Engine {
 public:
  std::string name() const override { return "reference"; }
  std::string version() const override { return std::string(isomer::version()); }
  int threads() const override { return 1; }

  Result<SessionId> load(const std::filesystem::path& onnx) override { return models_.load(onnx); }
  Status unload(SessionId session) override { return models_.unload(session); }

  Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) override {
    ISOMER_TRY(const Model* model, models_.find(session));
    ISOMER_TRY(const auto ordered, ordered_inputs(*model, inputs));
    return run_reference(model->graph, ordered);
  }

  Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                            std::span<const std::vector<NamedTensor>> inputs,
                                                            const TimingOptions& options) override {
    if (sessions.size() != inputs.size()) return fail("{} sessions, {} inputs", sessions.size(), inputs.size());
    std::vector<std::function<Status()>> runs;
    for (size_t i = 0; i < sessions.size(); ++i) {
      ISOMER_TRY(const Model* model, models_.find(sessions[i]));
      ISOMER_TRY(auto ordered, ordered_inputs(*model, inputs[i]));
      runs.emplace_back([model, ordered = std::move(ordered)]() -> Status {
        ISOMER_TRY(const auto outputs, run_reference(model->graph, ordered));
        return {};
      });
    }
    return time_in_turn(runs, options);
  }

 private:
  LoadedModels models_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace isomer
