#pragma once
// The ONNX form of a known node at the opset of a model.

#include <string>

#include "isomer/base/result.h"
#include "isomer/onnx/model_info.h"
#include "isomer/ops/onnx_form.h"

namespace isomer {

/// "Conv", for an opaque node the operator that it stands for.
std::string node_title(const Node& node);

/// The form of a known node; an Error says why it cannot be written at the model's opset.
Result<OnnxForm> onnx_form_of(const Graph& graph, const Node& node, const ModelInfo& info);

}  // namespace isomer
