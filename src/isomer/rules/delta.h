#pragma once
// Predicts the hashes of the graph that applying a match gives, without building it.

#include "isomer/rules/match.h"

namespace isomer {

struct Delta {
  uint64_t hash = 0;                        ///< content hash of apply_match(graph, match)
  std::vector<uint64_t> value_hashes = {};  ///< of the values that replace the values of the graph
  std::vector<uint64_t> made = {};          ///< of the values that the target makes, new in the graph or not
  std::vector<ValueId> leaves = {};         ///< the values for which the target's inputs stand (MatchTarget::bound)
};

/// Computed from the target's nodes and all values that depend on the roots. Fails if the target is not valid there
/// (see apply_match).
Result<Delta> delta_of(const Graph& graph, const Match& match);

}  // namespace isomer
