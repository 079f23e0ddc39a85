#pragma once
// MetaFlow's search of a whole candidate: it splits the graph, backtracks in each part, joins the results, and then
// searches around each cut.

#include <optional>
#include <span>

#include "isomer/base/deadline.h"
#include "isomer/base/observer.h"
#include "isomer/search/backtrack.h"

namespace isomer {

struct MetaflowOptions {
  double alpha = BacktrackOptions().alpha;
  /// As in BacktrackOptions; 0 (exhaustive) also disables restarts.
  int max_uphill = BacktrackOptions().max_uphill;
  /// Maximum number of operators per part.
  size_t split = 30;
  /// Maximum number of graphs that are costed per part.
  int64_t max_candidates = SearchLimits().max_candidates;
  /// Parts are searched by beam search of this width (BeamOptions), without a cutoff; else by backtracking.
  std::optional<size_t> beam_width = std::nullopt;
  Deadline deadline = Deadline::never();
  Observer observer = {};
};

/// The evaluator must have costs; nothing is measured. Fails if a part of it has no cost. The result never costs more
/// than `whole`. Equal candidates, rules, costs and options give equal results, unless the time budget ends the
/// search.
Result<SearchResult> metaflow_search(const Candidate& whole, std::span<const Rule> rules, Evaluator& evaluator,
                                     const MetaflowOptions& options);

}  // namespace isomer
