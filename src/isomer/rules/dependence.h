#pragma once
// Finds the values that depend on a growing group of nodes.

#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Caches its results, so that all queries about one group visit each node at most once.
class Dependence {
 public:
  /// Keeps a reference to the graph.
  explicit Dependence(const Graph& graph) : graph_(graph), marks_(graph.nodes().size(), 0) {}

  /// Begins a new group with this node.
  void begin(NodeId first);
  /// Adds a node, which must come after those of the group. Returns false and adds nothing if an already queried value
  /// depends on the node.
  bool add(NodeId id);
  /// Whether a value depends on a node of the group or is its result. kNoValue depends on nothing.
  bool on_group(ValueId value);
  /// The number of nodes visited so far, for all groups together.
  int64_t visited() const { return visited_; }

 private:
  // Marks of earlier groups are smaller and are ignored.
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
