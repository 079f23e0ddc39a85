#pragma once
// Flow-based recursive graph split (MetaFlow, section 4.3, algorithm 2).

#include <span>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/rules/match.h"

namespace isomer {

struct Split {
  std::vector<std::vector<NodeId>> parts;  ///< convex, in topological order; together all nodes that run
  std::vector<NodeId> cuts;                ///< the nodes behind which the graph was cut, ascending
};

/// Parts of at most `threshold` nodes that run. Each cut goes behind the nodes whose capacities have the least sum; a
/// node's capacity is the number of matches that map an edge into it and an edge out of it. Both sides of a cut have at
/// least a quarter of the nodes. What is not cut by the deadline stays in larger parts.
Split split_graph(const Graph& graph, std::span<const Match> matches, size_t threshold,
                  const Deadline& deadline = Deadline::never());

}  // namespace isomer
