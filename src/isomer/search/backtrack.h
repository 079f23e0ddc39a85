#pragma once
// Cost-based backtracking search (MetaFlow, section 4.2, algorithm 1).

#include "isomer/search/expansion.h"

namespace isomer {

struct BacktrackOptions {
  /// A candidate is kept while it costs less than alpha times the best graph. With 1 only a candidate that is cheaper
  /// than all before it is kept (greedy); with infinity every candidate is (exhaustive).
  double alpha = SearchOptions().alpha;
  /// Maximum number of consecutive steps that may leave the graph no cheaper than before them. These steps must be
  /// adjacent in the graph (see docs/reference/search.md). 0: any number, anywhere.
  int64_t max_uphill = SearchOptions().max_uphill;
  SearchLimits limits = {};
};

/// Searches the candidates that the rules generate, in the order of fewest uphill steps, then lowest cost. The queue
/// stores a parent, a match and a cost, not graphs. Duplicates are recognized by their hash (Expansion::cost), and
/// matches are inherited from the parent. Fails only if `first` itself has no cost.
Result<FoundCandidate> backtrack(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                 const BacktrackOptions& options);

}  // namespace isomer
