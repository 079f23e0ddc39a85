#pragma once
// Defaults of graph inputs.

#include <span>

#include "isomer/onnx/model.h"

namespace isomer {

/// The model with these defaults for its graph inputs, in order; inputs with an empty() tensor have none. Needs IR
/// version 4, which make_model chooses from opset 9 on.
Model with_defaults(const Model& model, std::span<const Tensor> defaults);

}  // namespace isomer
