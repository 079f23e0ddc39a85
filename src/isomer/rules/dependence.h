#pragma once
// Which values depend on a group of nodes that grows.

#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Remembers what it found, so that all questions about one group together look at each node once.
class Dependence {
 public:
  /// Keeps a reference.
  explicit Dependence(const Graph& graph) : graph_(graph), marks_(graph.nodes().size(), 0) {}

  /// Begins a group with this node.
  void begin(NodeId first);
  /// Adds a node, which must come behind those of the group. False, and nothing is added, where a value that was asked
  /// about depends on it.
  bool add(NodeId id);
  /// Whether a value depends on a node of the group (or is its result). kNoValue depends on nothing.
  bool on_group(ValueId value);
  /// Nodes looked at so far, for all groups together.
  int64_t visited() const { return visited_; }

 private:
  // Marks of earlier groups are smaller and mean nothing.
  uint64_t dependent() const { return 2 * group_ + 1; }
  uint64_t independent() const { return 2 * group_; }
  bool search(NodeId from);

  const Graph& graph_;
  std::vector<uint64_t> marks_;  // by node
  uint64_t group_ = 0;
  NodeId first_ = 0;
  int64_t visited_ = 0;
};

}  // namespace isomer
