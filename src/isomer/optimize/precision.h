#pragma once
// What is lost where an engine computes in fewer bits than f32.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "isomer/engine/engine.h"

namespace isomer {

/// The largest differences of outputs from those in f32.
struct PrecisionLoss {
  DType dtype = DType::Float;  ///< in which the engine computes
  double max_abs = 0;
  double max_rel = 0;  ///< relative to the largest element of the same output
  int inputs = 0;      ///< how many runs were compared

  /// Takes in one run. Fails where the outputs are not comparable: of other types, NaN where the others are numbers, or
  /// other integers (an index of a largest element, say).
  Status account(std::span<const Tensor> got, std::span<const Tensor> in_f32);
  /// "bf16: within 2.1e-03 of f32, relative to the largest element"
  std::string str() const;
};

nlohmann::json to_json(const PrecisionLoss& loss);

/// Runs a model in f32 by an engine like the one that `options` describe, and compares.
Result<PrecisionLoss> precision_loss(const std::string& engine, const EngineOptions& options,
                                     const std::filesystem::path& onnx, std::span<const NamedTensor> inputs,
                                     std::span<const Tensor> outputs);

}  // namespace isomer
