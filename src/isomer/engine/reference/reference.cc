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
  Result<Run> prepare(SessionId, const Model& model, std::vector<Tensor> inputs) override {
    return [&graph = model.graph, inputs = std::move(inputs)] { return run_reference(graph, inputs); };
  }
};

}  // namespace

Result<std::unique_ptr<Engine>> make_reference_engine(const EngineOptions& /*options*/) {
  return std::make_unique<ReferenceEngine>();
}

}  // namespace isomer
