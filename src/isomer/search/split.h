#pragma once
// Flow-based recursive graph split (MetaFlow, section 4.3, algorithm 2).

#include <span>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/rules/match.h"

namespace isomer {

struct Split {
  std::vector<std::vector<NodeId>> parts;  ///< convex, in topological order; together they contain all nodes that run
  std::vector<NodeId> cuts;                ///< the nodes after which the graph was cut, each once, ascending
};

/// How the capacity of a node is counted.
enum class Capacity : uint8_t {
  Across,  ///< matches that map an edge into it and an edge out of it (MetaFlow)
  At,      ///< matches that map it (AutoGraph: Zhao et al., AAAI 2023)
};

/// Splits a graph into parts of at most `threshold` nodes that run. Each cut follows the set of nodes with the smallest
/// sum of capacities. Both sides of a cut have at least a quarter of the nodes. Parts that are not yet cut at the
/// deadline stay larger.
Split split_graph(const Graph& graph, std::span<const Match> matches, size_t threshold,
                  const Deadline& deadline = Deadline::never(), Capacity capacity = Capacity::Across);

}  // namespace isomer
