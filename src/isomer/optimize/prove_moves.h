#pragma once
// Proves the individual applications that led to a graph: with their extents, attributes and lists, for all elements.

#include <set>

#include "isomer/certificate/replay.h"

namespace isomer {

/// The applications of one rule.
struct AppliedProofs {
  size_t applications = 0;
  size_t proved = 0;
  std::string reason = {};  ///< why the first unproved application could not be proved
};

/// Replays the moves and proves every application of the named rules. Applications that differ only in their place are
/// proved once. An Error if the moves cannot be replayed.
Result<std::map<std::string, AppliedProofs>> prove_moves(const Graph& start, std::span<const Move> moves,
                                                         const replay::RuleBook& rules,
                                                         const std::set<std::string>& names);

}  // namespace isomer
