#pragma once
// Minimum vertex cuts (MetaFlow, section 4.3).

#include <span>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Two sides of some nodes: no node above depends on one below.
struct VertexCut {
  std::vector<NodeId> above;
  std::vector<NodeId> below;
  std::vector<NodeId> after;  ///< those above that are read below: the graph is cut after them
};

/// Returns the cut of some nodes, in topological order, whose nodes `after` have the smallest sum of capacities; of
/// equal ones, that with the fewest nodes. `capacity` is by node of the graph. Both sides have at least a quarter of
/// the nodes.
VertexCut minimum_vertex_cut(const Graph& graph, const std::vector<NodeId>& nodes, std::span<const int64_t> capacity);

}  // namespace isomer
