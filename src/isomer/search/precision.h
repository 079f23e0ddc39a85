#pragma once
// The error that an engine makes when it computes with less precision than f32.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "isomer/engine/engine.h"

namespace isomer {

/// The largest differences of outputs from those in f32.
struct PrecisionLoss {
  DType dtype = DType::Float;  ///< the type in which the engine computes
  double max_abs = 0;
  double max_rel = 0;  ///< relative to the largest element of the same output
  int inputs = 0;      ///< number of runs that were compared

  /// Adds one run. Fails if the outputs are not comparable: they have different types, NaN where the others are
  /// numbers, or different integers (for example, the index of a largest element).
  Status account(std::span<const Tensor> got, std::span<const Tensor> in_f32);
  /// "bf16: within 2.1e-03 of f32, relative to the largest element"
  std::string str() const;
};

nlohmann::json to_json(const PrecisionLoss& loss);

/// Runs a model in f32 on an engine with otherwise the same `options`, and compares `outputs` with the results.
Result<PrecisionLoss> precision_loss(const std::string& engine, const EngineOptions& options,
                                     const std::filesystem::path& onnx, std::span<const NamedTensor> inputs,
                                     std::span<const Tensor> outputs);

}  // namespace isomer
