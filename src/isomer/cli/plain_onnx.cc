#include "isomer/cli/plain_onnx.h"

#include <fmt/ranges.h>

#include "isomer/ir/label.h"

namespace isomer {

std::set<std::string> foreign_operators(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes()) {
    if (node.is_input() || node.is_constant()) continue;
    const std::string& domain = node.is_opaque() ? node.attrs.text("@domain") : node.op->domain;
    if (!domain.empty() && !domain.starts_with("ai.onnx")) names.insert(op_label(node));
  }
  return names;
}

std::string plain_onnx_line(const std::set<std::string>& foreign) {
  if (foreign.empty()) return "plain ONNX: all operators are ONNX's";
  return fmt::format("not plain ONNX: {}", fmt::join(foreign, ", "));
}

}  // namespace isomer
