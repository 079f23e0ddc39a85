#pragma once
// MetaFlow's search of a whole graph: split, backtracking in each part, stitching, and a local search around each cut.

#include <functional>
#include <span>

#include "isomer/base/deadline.h"
#include "isomer/base/trace.h"
#include "isomer/cost/cost_model.h"
#include "isomer/search/backtrack.h"

namespace isomer {

struct MetaflowOptions {
  double alpha = 1.05;
  /// As in BacktrackOptions; 0 (exhaustive) does without restarts, too.
  int most_unpaid = 2;
  /// Parts have at most this many operators.
  size_t split = 30;
  /// Graphs that may be costed in one part.
  int64_t max_candidates = 10000;
  Deadline deadline = Deadline::after(60);
  /// What is made as small as possible. From kBeyondLimits on, a limit is exceeded: a part is searched with what lives
  /// beside it on its account, and what takes the whole beyond a limit is left out.
  std::function<double(const Metrics&)> objective = [](const Metrics& metrics) { return metrics.latency_us; };
  /// Whether a graph may be kept at all.
  std::function<bool(const Graph&)> admits = [](const Graph&) { return true; };
  /// As in BacktrackOptions.
  std::function<bool(const Graph&)> foldable = [](const Graph&) { return true; };
  const RefusedWeights* refused = nullptr;
  /// Called with a line on what goes on.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  /// Gets a span for every part, and how many candidates there were; null: nobody.
  Trace* trace = nullptr;
};

/// Fails where a part of the graph has no cost. The result never costs more than the graph. Same graph, rules, costs
/// and options: same result, unless the time budget ends the search.
Result<SearchResult> metaflow_search(const Graph& graph, std::span<const Rule> rules, CostModel& costs,
                                     const MetaflowOptions& options);

}  // namespace isomer
