#pragma once
// The models that an engine of this process has loaded, and their inputs in the graph's order.

#include <functional>
#include <map>

#include "isomer/engine/engine.h"
#include "isomer/onnx/model.h"

namespace isomer {

class LoadedModels {
 public:
  /// An Error names the file.
  Result<SessionId> load(const std::filesystem::path& onnx);
  Status unload(SessionId session);
  Result<const Model*> find(SessionId session) const;

 private:
  std::map<SessionId, Model> models_;
  SessionId last_ = 0;
};

/// The tensors for a model's inputs, in its order. An Error names one that is not given.
Result<std::vector<Tensor>> ordered_inputs(const Model& model, std::span<const NamedTensor> inputs);

/// Rounds of one call of each function in turn, timed; see Engine::time_interleaved.
Result<std::vector<std::vector<double>>> time_in_turn(std::span<const std::function<Status()>> runs,
                                                      const TimingOptions& options);

}  // namespace isomer
