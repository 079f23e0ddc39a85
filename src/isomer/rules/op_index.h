#pragma once
// The nodes of a graph by operator.

#include <span>
#include <utility>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Nodes by operator, so that a matcher only visits possible roots.
class OpIndex {
 public:
  explicit OpIndex(const Graph& graph);
  /// Ascending. Opaque nodes and nodes that depend only on constants are omitted.
  std::span<const NodeId> nodes(const OpDef& op) const;

 private:
  std::vector<std::pair<const OpDef*, std::vector<NodeId>>> by_op_;
};

}  // namespace isomer
