#pragma once
// Cost-based backtracking search (MetaFlow, section 4.2, algorithm 1).

#include <functional>
#include <limits>
#include <span>

#include "isomer/base/deadline.h"
#include "isomer/rules/rule.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/report.h"

namespace isomer {

struct BacktrackOptions {
  /// A candidate is kept while it costs less than alpha times the best graph. With 1 only a candidate that is cheaper
  /// than all before it is kept (greedy); with infinity every candidate is (exhaustive).
  double alpha = 1.05;
  /// Maximum number of consecutive steps that may leave the graph no cheaper than before them. These steps must be
  /// adjacent in the graph (see docs/reference/search.md). 0: any number, anywhere.
  int max_uphill = 2;
  /// Maximum number of graphs that are costed.
  int64_t max_candidates = 1000;
  /// Maximum number of operators of a candidate, as a multiple of the graph's (plus a small constant). Without this
  /// limit, rules that turn one operator into several would fill the queue with graphs of equal cost.
  double max_growth = 1.5;
  /// Decides which graphs may be kept (`admits`), and whether the weights of a graph that would become the best can be
  /// folded. Its costs are not used. nullptr: all graphs may be kept.
  Evaluator* evaluator = nullptr;
  Deadline deadline = Deadline::never();
};

struct BacktrackResult {
  Graph graph;
  double cost_before = 0;
  double cost_after = 0;
  /// The substitutions from the input graph to `graph`, each with its change of the cost. `stop_reason` is "exhausted",
  /// "candidate budget", "time budget" or "interrupted".
  SearchReport report;
};

/// Returns the cost of a graph. An Error means that the cost is unavailable; the search then skips the candidate.
using GraphCost = std::function<Result<double>(const Graph&)>;

/// Searches the graphs that the rules generate, in the order of fewest uphill steps, then lowest cost. The queue stores
/// candidates (a parent, a match, a cost), not graphs. Duplicates are recognized by their hash before they are built,
/// and matches are inherited from the parent. Fails only if `graph` itself has no cost.
Result<BacktrackResult> backtrack(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost,
                                  const BacktrackOptions& options);

}  // namespace isomer
