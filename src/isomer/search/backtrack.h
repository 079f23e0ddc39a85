#pragma once
// Cost-based backtracking search (MetaFlow, section 4.2, algorithm 1).

#include <functional>
#include <limits>
#include <span>

#include "isomer/base/deadline.h"
#include "isomer/rules/rule.h"
#include "isomer/search/report.h"

namespace isomer {

struct BacktrackOptions {
  /// A candidate is kept while it costs less than alpha times the best graph. 1: only what is better than all before
  /// (greedy); infinite: everything (exhaustive).
  double alpha = 1.05;
  /// How many steps in a row may leave the graph no cheaper than where they set out. They must touch one another (see
  /// docs/search.md). 0: any number, anywhere.
  int most_unpaid = 2;
  /// Graphs that may be costed.
  int64_t max_candidates = 10000;
  /// A candidate may have this many times the operators of the graph (and a few more): rules that turn one operator
  /// into several would otherwise fill the queue with graphs of equal cost.
  double most_growth = 1.5;
  /// Whether a graph may be kept at all (say, whether the model's opset can express it).
  std::function<bool(const Graph&)> admits = [](const Graph&) { return true; };
  /// Whether the weights of a graph can be folded. Asked of what would be the best so far; what cannot is dropped.
  std::function<bool(const Graph&)> foldable = [](const Graph&) { return true; };
  /// Weights that no rewrite may make; `foldable` may add to them. Null: none.
  const RefusedWeights* refused = nullptr;
  Deadline deadline = Deadline::never();
};

struct BacktrackResult {
  Graph graph;
  double cost_before = 0;
  double cost_after = 0;
  /// The substitutions from the graph given to `graph`, with what each changed in cost. `stop_reason` is "exhausted",
  /// "candidate budget", "time budget" or "interrupted".
  SearchReport report;
};

/// The cost of a graph; an Error where it cannot be had, which passes over a candidate.
using GraphCost = std::function<Result<double>(const Graph&)>;

/// Searches the graphs that the rules lead to: those first with the fewest steps that have not paid, among them the
/// cheapest. The queue holds candidates (a parent, a match, a
/// cost), not graphs; what was seen is recognized by its hash before it is built, and matches are inherited from the
/// parent. Fails only where `graph` itself has no cost.
Result<BacktrackResult> backtrack(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost,
                                  const BacktrackOptions& options);

}  // namespace isomer
