#pragma once
// Extracts parts of a candidate as separate candidates, and puts them back. This lets a search handle a few dozen
// operators at a time.

#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/plan/candidate.h"

namespace isomer {

/// A graph made from a convex set of run-time nodes (no path leaves the set and returns). Its inputs are the values
/// that it reads from outside, its outputs those that are read outside. The weights that it reads are copied, as are
/// decisions about the values that it computes.
struct Part : Candidate {
  std::vector<ValueId> inputs = {};   ///< values of the whole graph, in the order of the part's inputs
  std::vector<ValueId> outputs = {};  ///< values of the whole graph, in the order of the part's outputs
};

/// Returns the nodes that run, ascending: neither inputs nor nodes that depend only on weights.
std::vector<NodeId> run_time_nodes(const Graph& graph);

/// Returns the smallest convex set that contains `nodes`; ascending.
std::vector<NodeId> convex_hull(const Graph& graph, std::span<const NodeId> nodes);

/// `nodes` must be convex, ascending, and run-time nodes.
Part extract_part(const Candidate& whole, std::span<const NodeId> nodes);

/// Returns the maximum number of bytes that are live outside a part (`nodes`, ascending) while it runs, in the order of
/// the whole graph: values that the part neither makes nor still has to read. `bytes` is indexed by value. Added to the
/// part's own peak, this is about the memory of the whole graph at that time.
double live_beside(const Graph& whole, std::span<const NodeId> nodes, std::span<const double> bytes);

/// A part and the candidate that replaces it, whose inputs and outputs have the same types in the same order.
struct Replacement {
  const Part* part;
  const Candidate* candidate;
};
struct Spliced : Candidate {
  /// Hash of the value that replaces each value of the whole; 0 if there is none.
  std::vector<uint64_t> value_hashes = {};
};
/// Returns the whole with parts replaced (they must not overlap). Values that remain keep their names and decisions.
Spliced splice(const Candidate& whole, std::span<const Replacement> replacements);

}  // namespace isomer
