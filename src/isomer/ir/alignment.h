#pragma once
// Which nodes of two graphs correspond.

#include <limits>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

constexpr NodeId kNoNode = std::numeric_limits<uint32_t>::max();

/// Pairs of nodes that do the same: equal operator, attributes, types and weights, in the same surroundings. They need
/// not compute the same, for what they read may come from nodes that changed.
struct Alignment {
  std::vector<NodeId> to_after;   ///< by node of the graph before; kNoNode where it has no partner
  std::vector<NodeId> to_before;  ///< by node of the graph after
  std::vector<NodeId> pairs;      ///< the nodes before that have one
};

/// Pairs nodes that compute the same, then those of equal name, then those at corresponding places beside a pair. What
/// depends on constants alone is not paired, unless it is an output.
Alignment align(const Graph& before, const Graph& after);

/// Whether a node runs or makes an output, rather than to depend on constants alone.
bool is_at_run_time(const Graph& graph, const Node& node);

/// The operands of a node; where their order makes no difference, those that are no weights first.
std::vector<ValueId> ordered_operands(const Graph& graph, const Node& node);

}  // namespace isomer
