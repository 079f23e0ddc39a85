#pragma once
// The ONNX form of a known node at the opset of a model.

#include <optional>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model_info.h"
#include "isomer/ops/onnx_form.h"

namespace isomer {

/// What the normalized form of a node follows from, together with the form that the model wrote: operator, attributes,
/// types of the operands. Nodes of one key can be written in one form.
uint64_t form_key(const Graph& graph, const Node& node);

/// What export needs to write a known node again as `form`, which was normalized with these `sources`; nothing where a
/// parameter is not a constant.
std::optional<OriginalForm> original_form(OnnxForm form, const std::vector<size_t>& sources, uint64_t key);

/// The form of a known node: the model's own where it wrote the same node, else its form at the model's opset. An Error
/// says why it cannot be written at the model's opset.
Result<OnnxForm> onnx_form_of(const Graph& graph, const Node& node, const ModelInfo& info);

}  // namespace isomer
