#pragma once
// Computing values a second time instead of keeping them (rematerialization; Chen et al. 2016, "Training Deep Nets with
// Sublinear Memory Cost").

#include "isomer/plan/candidate.h"

namespace isomer {

/// A candidate as it runs.
struct Recomputed {
  Candidate candidate;            ///< without decisions about computations
  std::vector<NodeId> nodes;      ///< by node of its graph: the given graph's node whose results it has
  std::vector<NodeId> positions;  ///< likewise: the given graph's node at whose place it runs
};

/// Returns whether a value can be computed a second time: it is the result of a node that runs and is not opaque, a
/// node reads it, and it is not an output of the graph.
bool is_recomputable(const Graph& graph, ValueId value);

/// Returns for each value that is computed twice the place of its second computation: a node of the graph, before which
/// it runs. The uses of a value are its computation, its readers, and the second computations of values that are
/// computed from it. Those after the longest pause between uses, in the order of the graph, use the second computation.
/// (After the last pause, if several are the longest. Results of one node have the first of their places.) kNoPlace for
/// other values, and where the decision has no effect.
std::vector<NodeId> second_computations(const Candidate& candidate);
inline constexpr NodeId kNoPlace = std::numeric_limits<NodeId>::max();

/// Returns the candidate with these second computations. Operands that are not computed twice are kept until then.
Recomputed with_recomputation(const Candidate& candidate);

}  // namespace isomer
