#pragma once
// A candidate: what searches generate, cost models price, and engines run.

#include <span>
#include <unordered_map>

#include "isomer/ir/builder.h"
#include "isomer/plan/decisions.h"

namespace isomer {

/// A graph and how it is executed. A graph by itself is the candidate without decisions.
struct Candidate {
  // NOLINTNEXTLINE(google-explicit-constructor): see above
  Candidate(Graph graph = {}, Decisions decisions = {}) : graph(std::move(graph)), decisions(std::move(decisions)) {}

  /// Returns a content hash; the graph's if nothing is decided.
  uint64_t hash() const;

  Graph graph;
  Decisions decisions;  ///< about values of `graph`
};

/// Returns the candidate for `after`, a rewritten graph, with decisions about the graph before. `images` has for each
/// value of that graph the content hash of the value that corresponds to it (Delta::value_hashes). A rewrite changes
/// the hashes of everything downstream, but not these correspondences, so decisions elsewhere in the graph stay. Those
/// of values that have no correspondence are dropped. If several become one value, the decision of the first is kept.
Candidate carried(const Decisions& decisions, std::span<const uint64_t> images, Graph after);

/// Returns the values of a graph by their content hashes.
std::unordered_map<uint64_t, ValueId> values_by_hash(const Graph& graph);

/// Finishes a graph, with decisions about values of the builder.
Candidate finish(GraphBuilder& builder, std::span<const ValueId> outputs, const Decisions& decisions);

}  // namespace isomer
