#pragma once
// The ONNX form of a known node at the opset of a model.

#include <optional>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model_info.h"
#include "isomer/ops/onnx_form.h"

namespace isomer {

/// Hash of what determines the normalized form of a node, together with the model's own form: operator, attributes, and
/// operand types. Nodes with the same key can be written in the same form.
uint64_t form_key(const Graph& graph, const Node& node);

/// The data with which export can write a known node as `form` again. `form` was normalized with these `sources`.
/// Returns nullopt if a parameter is not a constant.
std::optional<OriginalForm> original_form(OnnxForm form, const std::vector<size_t>& sources, uint64_t key);

/// The form of a known node: the model's own form if it has the same node, otherwise its form at the model's opset.
/// Fails with the reason if the node cannot be written at this opset.
Result<OnnxForm> onnx_form_of(const Graph& graph, const Node& node, const ModelInfo& info);

}  // namespace isomer
