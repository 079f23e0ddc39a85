#pragma once
// Defaults of graph inputs.

#include <span>
#include <string>
#include <vector>

#include "isomer/onnx/model.h"

namespace isomer {

/// The model with these defaults for its graph inputs, in order; inputs with an empty() tensor have none. Needs IR
/// version 4, which make_model chooses from opset 9 on.
Model with_defaults(const Model& model, std::span<const Tensor> defaults);

/// Of a model that was read with parameters as inputs, the names of the initializers that would be parameters if they
/// had axes (ImportOptions::scalars).
std::vector<std::string> untrained_scalars(const Model& model);

}  // namespace isomer
