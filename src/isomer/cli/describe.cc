#include "isomer/cli/describe.h"

#include <algorithm>

#include "isomer/ops/onnx_form.h"
#include "isomer/ops/unknown_op.h"

namespace isomer {

nlohmann::json interface_json(const Model& model, bool outputs) {
  nlohmann::json rows = nlohmann::json::array();
  const auto values = outputs ? model.graph.outputs() : model.graph.inputs();
  for (size_t i = 0; i < values.size(); ++i) {
    rows.push_back({{"name", outputs ? output_name(model, i) : input_name(model, i)},
                    {"type", model.graph.type(values[i]).str()}});
  }
  return rows;
}

std::string node_name(const Graph& graph, const Node& node) {
  for (uint32_t i = 0; i < node.num_results; ++i) {
    if (!graph.name(node.result(i)).empty()) return graph.name(node.result(i));
  }
  return "";
}

std::string why_opaque(const Graph& graph, const Node& node) {
  const OnnxForm form = opaque_form(node);
  if (std::string why = why_unknown(form.op_type, form.domain, form.opset); !why.empty()) return why;
  const auto unknown = [&](ValueId operand) { return operand != kNoValue && !graph.type(operand).known(); };
  if (std::ranges::any_of(graph.operands(node), unknown)) return "the type of an operand is not known";
  return "quantized, computed at run time, or in a form that is not modelled";
}

}  // namespace isomer
