#pragma once
// What applying a match would make of a graph, as far as that can be told without building it.

#include "isomer/rules/match.h"

namespace isomer {

struct Delta {
  uint64_t hash = 0;                        ///< content hash of apply_match(graph, match)
  std::vector<uint64_t> value_hashes = {};  ///< of what stands for each value of the graph afterwards
};

/// From the target's nodes and the cone of values below the roots. An Error where the target cannot stand there (see
/// apply_match).
Result<Delta> delta_of(const Graph& graph, const Match& match);

}  // namespace isomer
