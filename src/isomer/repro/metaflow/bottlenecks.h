#pragma once
// Cuts a network into its blocks.

#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Returns the nodes that run in groups, in topological order: between two groups, exactly one value is alive. Weights
/// and inputs that nothing later reads do not count. In a network of modules, each module is a group.
std::vector<std::vector<NodeId>> groups_between_bottlenecks(const Graph& graph);

}  // namespace isomer
