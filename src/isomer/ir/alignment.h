#pragma once
// Finds corresponding nodes of two graphs.

#include <limits>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

constexpr NodeId kNoNode = std::numeric_limits<uint32_t>::max();

/// Pairs of nodes with equal operators, attributes, types and weights, in the same surroundings. The nodes of a pair
/// need not compute the same, because the nodes that they read may have changed.
struct Alignment {
  std::vector<NodeId> to_after;   ///< by node of the graph before; kNoNode if it has no partner
  std::vector<NodeId> to_before;  ///< by node of the graph after
  std::vector<NodeId> pairs;      ///< the nodes before that have a partner
};

/// Pairs nodes that compute the same, then nodes of equal name, then nodes at corresponding places next to a pair.
/// Nodes that depend only on constants are not paired, unless they are outputs.
Alignment align(const Graph& before, const Graph& after);

/// Whether a node runs or makes an output. Other nodes depend only on constants.
bool is_at_run_time(const Graph& graph, const Node& node);

/// The operands of a node. If their order does not matter, those that are not weights come first.
std::vector<ValueId> ordered_operands(const Graph& graph, const Node& node);

}  // namespace isomer
