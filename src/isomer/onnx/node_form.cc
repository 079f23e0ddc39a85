#include "isomer/onnx/node_form.h"

namespace isomer {

std::string node_title(const Node& node) { return node.is_opaque() ? node.attrs.text("@op_type") : node.op->name; }

Result<OnnxForm> onnx_form_of(const Graph& graph, const Node& node, const ModelInfo& info) {
  const std::string& domain = node.op->domain;
  const auto opset = info.opsets.find(domain);
  if (opset == info.opsets.end()) return fail("the model imports no opset of the domain '{}'", domain);
  ISOMER_TRY(OnnxForm form, denormalize(*node.op, node.attrs, graph.operands(node), node.num_results, opset->second));
  if (!form.obstacle.empty())
    return fail("it cannot be written at opset {} of the model: {}", opset->second, form.obstacle);
  return form;
}

}  // namespace isomer
