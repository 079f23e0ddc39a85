#include "isomer/ir/dot.h"

namespace isomer {
namespace {

/// The types of all results, a line each.
std::string result_types(const Graph& graph, const Node& node) {
  std::string text;
  for (uint32_t i = 0; i < node.num_results; ++i) text += '\n' + graph.type(node.result(i)).str();
  return text;
}

/// A Graphviz string; line breaks become \n.
std::string label(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + '"';
}

bool is_drawn(const Graph& graph, const Node& node) {
  for (uint32_t i = 0; i < node.num_results; ++i) {
    if (!graph.is_weight(node.result(i)) || graph.is_output(node.result(i))) return true;
  }
  return node.num_results == 0;
}

std::string node_line(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string types = result_types(graph, node);
  if (!node.is_input()) return fmt::format("  n{} [label={}];\n", id, label(op_label(node) + types));
  const std::string& name = graph.name(node.result());
  return fmt::format("  n{} [shape=ellipse, label={}];\n", id, label((name.empty() ? "input" : name) + types));
}

}  // namespace

std::string op_label(const Node& node) {
  if (!node.is_opaque()) return node.op->name;
  const AttrValue* type = node.attrs.find("@op_type");
  const AttrValue* domain = node.attrs.find("@domain");
  const auto text = [](const AttrValue* value) {
    const auto* held = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return held == nullptr ? "" : *held;
  };
  const std::string prefix = text(domain);
  return (prefix.empty() ? "" : prefix + ".") + (type == nullptr ? "Opaque" : text(type));
}

std::string dot_graph(const Graph& graph) {
  std::string out = "digraph {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (!is_drawn(graph, node)) continue;
    out += node_line(graph, id);
    for (const ValueId operand : graph.operands(node)) {
      if (operand == kNoValue || !is_drawn(graph, graph.producer_node(operand))) continue;
      out += fmt::format("  n{} -> n{};\n", graph.producer(operand), id);
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const ValueId value = graph.outputs()[i];
    const std::string& name = graph.name(value);
    out += fmt::format("  o{} [shape=ellipse, label={}];\n", i, label(name.empty() ? "output" : name));
    out += fmt::format("  n{} -> o{};\n", graph.producer(value), i);
  }
  return out + "}\n";
}

}  // namespace isomer
