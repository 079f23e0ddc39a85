#include "isomer/engine/reference/reference.h"

#include "isomer/base/version.h"
#include "isomer/engine/in_process.h"
#include "isomer/eval/executor.h"

namespace isomer {
namespace {

class ReferenceEngine : public InProcessEngine {
 public:
  std::string name() const override { return "reference"; }
  std::string version() const override { return std::string(isomer::version()); }
  int threads() const override { return 1; }

 private:
  class ReferenceRun : public Run {
   public:
    ReferenceRun(const Graph& graph, std::vector<Tensor> inputs) : graph_(graph), inputs_(std::move(inputs)) {}
    Result<std::vector<Tensor>> whole() override { return run_reference(graph_, inputs_); }

   private:
    const Graph& graph_;
    const std::vector<Tensor> inputs_;
  };

  Result<std::unique_ptr<Run>> prepare(SessionId, const Model& model, std::vector<Tensor> inputs) override {
    return std::make_unique<ReferenceRun>(model.graph, std::move(inputs));
  }
};

}  // namespace

Result<std::unique_ptr<Engine>> make_reference_engine(const EngineOptions& /*options*/) {
  return std::make_unique<ReferenceEngine>();
}

}  // namespace isomer
