#pragma once
// Beam search: of all graphs that are one step further, the cheapest are kept.

#include "isomer/search/expansion.h"

namespace isomer {

struct BeamOptions {
  /// Number of graphs that are kept after each step; 0: all, which makes the search exhaustive.
  size_t width = static_cast<size_t>(SearchOptions().beam_width);
  SearchLimits limits = {};
};

/// Applies every match to every graph that was kept, drops the graphs that were seen before, and keeps the cheapest. Of
/// graphs with equal cost, those that were found first are kept. The search continues when all of them cost more than
/// the best, until no new graph is found or a limit is reached. Equal graphs, rules, costs and options give equal
/// results, unless the deadline ends the search. Fails only if `graph` itself has no cost.
Result<FoundCandidate> beam_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                   const BeamOptions& options);

}  // namespace isomer
