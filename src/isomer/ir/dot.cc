#include "isomer/ir/dot.h"

#include "isomer/base/printable.h"
#include "isomer/ir/alignment.h"
#include "isomer/ir/label.h"

namespace isomer {
namespace {

/// The types of all results, one per line.
std::string result_types(const Graph& graph, const Node& node) {
  std::string text;
  for (uint32_t i = 0; i < node.num_results; ++i) text += '\n' + graph.type(node.result(i)).str();
  return text;
}

}  // namespace

std::string dot_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + '"';
}

std::string dot_node(const Graph& graph, NodeId node_id, const std::string& id, const std::string& more,
                     const std::string& style) {
  const Node& node = graph.node(node_id);
  const std::string name = node.is_input() ? graph.name(node.result()) : "";
  const std::string head = !node.is_input() ? op_label(node) : name.empty() ? "input" : name;
  const std::string label = printable(head) + result_types(graph, node) + (more.empty() ? "" : '\n' + more);
  return fmt::format("{} [{}label={}{}];\n", id, node.is_input() ? "shape=ellipse, " : "", dot_string(label),
                     style.empty() ? "" : ", " + style);
}

std::string dot_output(const Graph& graph, size_t i, const std::string& id) {
  const std::string& name = graph.name(graph.outputs()[i]);
  return fmt::format("{} [shape=ellipse, label={}];\n", id, dot_string(name.empty() ? "output" : printable(name)));
}

std::string dot_graph(const Graph& graph) {
  std::string out = "digraph {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (!is_at_run_time(graph, node)) continue;
    out += "  " + dot_node(graph, id, fmt::format("n{}", id));
    for (const ValueId operand : graph.operands(node)) {
      if (operand == kNoValue || !is_at_run_time(graph, graph.producer_node(operand))) continue;
      out += fmt::format("  n{} -> n{};\n", graph.producer(operand), id);
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    out += "  " + dot_output(graph, i, fmt::format("o{}", i));
    out += fmt::format("  n{} -> o{};\n", graph.producer(graph.outputs()[i]), i);
  }
  return out + "}\n";
}

}  // namespace isomer
