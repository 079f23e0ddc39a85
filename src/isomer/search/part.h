#pragma once
// Parts of a graph as graphs of their own, and back: what lets a search look at a few dozen operators at a time.

#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// A convex set of nodes that run (no path leaves it and comes back) as a graph: what it reads from outside are its
/// inputs, what is read outside its outputs; the weights that it reads come along.
struct Part {
  Graph graph;
  std::vector<ValueId> inputs;   ///< values of the whole, in the order of the part's inputs
  std::vector<ValueId> outputs;  ///< values of the whole, in the order of the part's outputs
};

/// Nodes that run: neither inputs nor dependent on weights alone. Ascending.
std::vector<NodeId> run_time_nodes(const Graph& graph);

/// The smallest convex set that contains `nodes`; ascending.
std::vector<NodeId> convex_hull(const Graph& graph, std::span<const NodeId> nodes);

/// `nodes` must be convex, ascending, and run.
Part extract_part(const Graph& whole, std::span<const NodeId> nodes);

/// The most bytes that live beside a part (`nodes`, ascending) while it runs, in the order of the whole: values that it
/// neither makes nor still has to read. `bytes` is by value. With the part's own peak, about what the whole holds then.
double live_beside(const Graph& whole, std::span<const NodeId> nodes, std::span<const double> bytes);

/// A part and what shall stand in its place: a graph with inputs and outputs of the same types in the same order.
struct Replacement {
  const Part* part;
  const Graph* graph;
};
struct Spliced {
  Graph graph;
  std::vector<uint64_t> value_hashes;  ///< of what stands for each value of the whole; 0 where nothing does
};
/// The whole with parts replaced (they must not overlap). Names stay with the values that stay.
Spliced splice(const Graph& whole, std::span<const Replacement> replacements);

}  // namespace isomer
