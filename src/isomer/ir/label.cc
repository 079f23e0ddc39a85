#include "isomer/ir/label.h"

#include <fmt/format.h>

#include "isomer/base/printable.h"
#include "isomer/ir/opaque.h"

namespace isomer {
namespace {

/// An attribute of an opaque node; empty if the graph was not imported and lacks it.
std::string text_of(const Node& node, const char* name) {
  const AttrValue* value = node.attrs.find(name);
  const auto* held = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return held == nullptr ? "" : *held;
}

std::string first_name(const Graph& graph, const Node& node) {
  for (uint32_t i = 0; i < node.num_results; ++i)
    if (const std::string& name = graph.name(node.result(i)); !name.empty()) return name;
  return "";
}

}  // namespace

std::string op_label(const Node& node) {
  if (!node.is_opaque()) return node.op->name;
  const std::string op_type = text_of(node, "@op_type"), domain = text_of(node, "@domain");
  if (domain == kOwnDomain) return op_type == kSparseInitializer ? "sparse initializer" : "initializer";
  return (domain.empty() ? "" : domain + ".") + (op_type.empty() ? "Opaque" : op_type);
}

std::string node_label(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string name = first_name(graph, node);
  const std::string shown = name.empty() ? fmt::format("#{}", id) : fmt::format("'{}'", printable(name));
  if (node.is_input()) return "input " + shown;
  if (node.is_constant()) return "constant " + shown;
  if (node.is_opaque() && text_of(node, "@domain") == kOwnDomain) return op_label(node) + " " + shown;
  return fmt::format("node {} ({})", shown, printable(op_label(node)));
}

}  // namespace isomer
