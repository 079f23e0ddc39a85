#include "isomer/rules/op_index.h"

#include <algorithm>

namespace isomer {

OpIndex::OpIndex(const Graph& graph) {
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.is_opaque() || !graph.runs(node)) continue;
    auto found = std::find_if(by_op_.begin(), by_op_.end(), [&](const auto& entry) { return entry.first == node.op; });
    if (found == by_op_.end()) found = by_op_.insert(by_op_.end(), {node.op, {}});
    found->second.push_back(id);
  }
}

std::span<const NodeId> OpIndex::nodes(const OpDef& op) const {
  for (const auto& [key, ids] : by_op_)
    if (key == &op) return ids;
  return {};
}

}  // namespace isomer
