#pragma once
// Small graphs as models, for engines that time kernels one by one.

#include "isomer/onnx/model.h"

namespace isomer {

/// A model of the graph at the oldest of some opsets that can express it.
Result<Model> kernel_model_of(const Graph& graph);

}  // namespace isomer
