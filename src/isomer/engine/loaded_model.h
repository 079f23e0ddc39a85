#pragma once
// A model loaded on an engine of its own, for the C and the Python interface.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isomer/engine/engine.h"

namespace isomer {

/// An input or output as the model declares it.
struct DeclaredValue {
  std::string name;
  TensorType type;
  bool has_default = false;  ///< an input that a run need not give
};

/// A loaded model. Several threads may run it at the same time.
class LoadedModel {
 public:
  /// Loads an ONNX file, which must exist as long as the model, on a new engine (see make_engine). An Error names the
  /// file, or says what the engine lacks.
  static Result<std::unique_ptr<LoadedModel>> load(const std::filesystem::path& onnx, const std::string& engine,
                                                   const EngineOptions& options);

  /// In the model's order.
  const std::vector<DeclaredValue>& inputs() const { return inputs_; }
  const std::vector<DeclaredValue>& outputs() const { return outputs_; }

  /// Checks that every tensor is for an input of the model and that all of them fit the declared types together.
  Status check(std::span<const NamedTensor> tensors) const;

  /// Runs the model once on tensors that `check` accepts; returns its outputs in its order. Fails if an input without a
  /// default is not given, or the engine cannot run the model.
  Result<std::vector<Tensor>> run(std::span<const NamedTensor> tensors) const;

 private:
  LoadedModel() = default;

  std::unique_ptr<Engine> engine_;
  SessionId session_ = 0;
  std::vector<DeclaredValue> inputs_;
  std::vector<DeclaredValue> outputs_;
};

}  // namespace isomer
