#pragma once
// For the tests of other rooms: models that make_model cannot make.

#include "isomer/onnx/model_info.h"

namespace isomer::test {

/// The same model with a default for the i-th input.
inline Model with_default(const Model& model, size_t i, Tensor tensor) {
  auto info = std::make_shared<ModelInfo>(*model.info);
  info->defaults.insert_or_assign(info->inputs.at(i), std::move(tensor));
  return {model.graph, std::move(info)};
}

}  // namespace isomer::test
