#include "isomer/onnx/node_form.h"

#include <algorithm>

#include "isomer/base/hash.h"

namespace isomer {
namespace {

/// The model's own form of the node; nullopt if the model has another form.
std::optional<OnnxForm> form_of_model(const Graph& graph, const Node& node, const ModelInfo& info) {
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const auto at = info.forms.find(graph.origin(node.result(i)));
    if (at == info.forms.end() || at->second.key != form_key(graph, node)) continue;
    OnnxForm form = at->second.form;
    const auto operands = graph.operands(node);
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k] != kNoValue) form.operands[at->second.sources[k]].value = operands[k];
    return form;
  }
  return std::nullopt;
}

}  // namespace

uint64_t form_key(const Graph& graph, const Node& node) {
  uint64_t key = hash_mix(hash_mix(node.op->hash(), node.attrs.hash()), node.num_results);
  for (const ValueId operand : graph.operands(node))
    key = hash_mix(key, operand == kNoValue ? 0 : graph.type(operand).hash());
  return key;
}

std::optional<OriginalForm> original_form(OnnxForm form, const std::vector<size_t>& sources, uint64_t key) {
  form.types.clear();
  for (size_t i = 0; i < form.operands.size(); ++i) {
    FormOperand& operand = form.operands[i];
    const bool own = std::ranges::find(sources, i) != sources.end();
    if (!own && operand.value != kNoValue && operand.constant.empty()) return std::nullopt;
    operand.value = kNoValue;
    if (own) operand.constant = Tensor();
  }
  return OriginalForm{std::move(form), sources, key};
}

Result<OnnxForm> onnx_form_of(const Graph& graph, const Node& node, const ModelInfo& info) {
  if (auto form = form_of_model(graph, node, info)) return std::move(*form);
  const std::string& domain = node.op->domain;
  const auto opset = info.opsets.find(domain);
  if (opset == info.opsets.end()) return fail("the model imports no opset of the domain '{}'", domain);
  ISOMER_TRY(OnnxForm form, denormalize(*node.op, node.attrs, graph.operands(node), node.num_results, opset->second));
  if (!form.obstacle.empty())
    return fail("it cannot be written at opset {} of the model: {}", opset->second, form.obstacle);
  return form;
}

}  // namespace isomer
