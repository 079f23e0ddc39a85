#pragma once
// Applies a match: replaces the roots by the rule's targets.

#include "isomer/ir/builder.h"
#include "isomer/ir/derivation.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The rewritten graph. Fails with the reason if the target is not valid there: a node is ill typed, a type differs
/// from the type that it replaces, a shape expression is not known, a cycle would arise, or the target computes a
/// weight in `refused` (nullptr: none). Unchanged values keep their origins; the replacement of a root gets the root's
/// origin.
Result<Graph> apply_match(const Graph& graph, const Match& match, const RefusedWeights* refused = nullptr);

struct Rewritten {
  Graph graph;
  std::vector<const Match*> applied;  ///< in the given order
  std::vector<uint64_t>
      value_hashes;  ///< of the values that replace the values of the graph; 0 for those that are gone
};
/// Applies many matches at once. Skips a match that shares a root with an earlier one or whose target is not valid.
Rewritten apply_matches(const Graph& graph, std::span<const Match> matches, const RefusedWeights* refused = nullptr);

}  // namespace isomer
