#pragma once
// Beam search: of the graphs that are one step further, the cheapest are kept.

#include "isomer/search/backtrack.h"

namespace isomer {

struct BeamOptions {
  /// Graphs that are kept after each step; 0: all, which makes the search exhaustive.
  size_t width = 8;
  /// As in BacktrackOptions.
  int64_t max_candidates = BacktrackOptions().max_candidates;
  double max_growth = BacktrackOptions().max_growth;
  Evaluator* evaluator = nullptr;
  Deadline deadline = Deadline::never();
};

/// Applies every match to every graph that was kept, drops what was seen before, and keeps the cheapest; of equal cost,
/// those that were found first. It goes on, also where all of them cost more than the best, until no new graph is found
/// or a budget ends. Same graph, rules, costs and options: same result, unless the deadline ends it. Fails only where
/// `graph` itself has no cost.
Result<BacktrackResult> beam_search(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost,
                                    const BeamOptions& options);

}  // namespace isomer
