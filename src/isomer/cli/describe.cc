#include "isomer/cli/describe.h"

#include <algorithm>

#include "isomer/ops/onnx_form.h"
#include "isomer/ops/unknown_op.h"
#include "isomer/plan/divisions.h"
#include "isomer/plan/recomputation.h"

namespace isomer {
namespace {

/// Returns why an operator of the registry could not be imported or exported, as far as the finished graph shows it.
std::string obstacle_of(const Graph& graph, const Node& node) {
  OnnxForm form = opaque_form(node);
  for (const ValueId operand : graph.operands(node)) {
    const Tensor* data = operand == kNoValue ? nullptr : graph.constant(operand);
    form.operands.push_back({operand, data == nullptr ? Tensor() : *data});
    form.types.push_back(operand == kNoValue ? nullptr : &graph.type(operand));
  }
  const auto normal = normalize(form);
  if (!normal) return normal.error().message;
  if (!*normal) return form.obstacle;
  const auto written = denormalize(*(*normal)->op, (*normal)->attrs, (*normal)->operands, node.num_results, form.opset);
  return written ? written->obstacle : written.error().message;
}

/// Return why a decision about a value cannot have an effect; empty if it may have one.
std::string no_effect(const Graph& graph, ValueId value, Layout = {}) {
  if (graph.producer_node(value).is_input()) return "it is an input";
  return graph.is_constant_derived(value) ? "it depends only on constants" : "";
}
std::string no_effect(const Graph& graph, ValueId value, Algorithm) {
  const Node& maker = graph.producer_node(value);
  // Engines remove copies, and a decision about a copy can be one about what remains.
  const bool may_convolve = maker.op->role(1) == OperandRole::Filters || maker.op->has(Trait::Identity);
  return may_convolve ? no_effect(graph, value) : "it is not the result of a convolution";
}
std::string no_effect(const Graph& graph, ValueId value, Computation) {
  if (is_recomputable(graph, value)) return "";
  if (graph.is_output(value)) return "it is an output";
  if (graph.consumers(value).empty()) return "nothing reads it";
  const std::string reason = no_effect(graph, value);
  return reason.empty() ? "it is the result of an opaque node" : reason;
}

std::string no_effect(const Graph& graph, ValueId value, Team) { return no_effect(graph, value); }

std::string no_effect(const Graph& graph, ValueId value, Division division) {
  std::string reason = no_effect(graph, value);
  if (!reason.empty() || is_divisible(graph, graph.producer_node(value), division)) return reason;
  return "its operator cannot be divided along this axis";
}

}  // namespace

nlohmann::json interface_json(const Model& model, bool outputs) {
  nlohmann::json rows = nlohmann::json::array();
  const auto values = outputs ? model.graph.outputs() : model.graph.inputs();
  for (size_t i = 0; i < values.size(); ++i) {
    rows.push_back({{"name", outputs ? output_name(model, i) : input_name(model, i)},
                    {"type", model.graph.type(values[i]).str()}});
    if (!outputs) rows.back()["has_default"] = input_default(model, i) != nullptr;
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
  const std::string obstacle = obstacle_of(graph, node);
  return obstacle.empty() ? "quantized, or declared with another element type" : obstacle;
}

nlohmann::json decision_rows(const Graph& graph, const Decisions& decisions) {
  nlohmann::json rows = nlohmann::json::array();
  for_each_kind(
      [&](const auto& kind, const auto& decided) {
        for (const auto& [value, choice] : decided) {
          const std::string reason = no_effect(graph, value, choice);
          rows.push_back({{"value", graph.name(value)},
                          {"kind", kind.name},
                          {"choice", kind.word(choice)},
                          {"no_effect", reason.empty() ? nlohmann::json() : nlohmann::json(reason)}});
        }
      },
      decisions);
  return rows;
}

}  // namespace isomer
