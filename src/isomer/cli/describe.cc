#include "isomer/cli/describe.h"

#include <algorithm>
#include <array>

#include "isomer/ops/registry.h"

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
  const auto text = [&](const char* name) {
    const AttrValue* value = node.attrs.find(name);
    const auto* held = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return held == nullptr ? std::string() : *held;
  };
  const std::string op_type = text("@op_type"), domain = text("@domain");
  if (find_op(op_type, domain) != nullptr) {
    const auto unknown = [&](ValueId operand) { return operand != kNoValue && !graph.type(operand).known(); };
    if (std::ranges::any_of(graph.operands(node), unknown)) return "the type of an operand is not known";
    return "quantized, computed at run time, or in a form that is not modelled";
  }
  if (domain == "isomer") return "an initializer that is sparse or that training changes";
  constexpr std::array<std::string_view, 4> kWithGraphs = {"If", "Loop", "Scan", "SequenceMap"};
  if (domain.empty() && std::ranges::find(kWithGraphs, op_type) != kWithGraphs.end()) return "holds graphs of its own";
  return domain.empty() ? "not an operator that Isomer knows" : "of a domain that Isomer does not know";
}

}  // namespace isomer
