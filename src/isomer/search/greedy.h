#pragma once
// Greedy search over rules: each step applies the one tactic, or the one rule at all or at like places, that makes the
// whole model fastest.

#include <functional>
#include <optional>
#include <span>

#include "isomer/base/deadline.h"
#include "isomer/base/trace.h"
#include "isomer/rules/rule.h"
#include "isomer/runtime/work.h"
#include "isomer/search/oracle.h"
#include "isomer/search/report.h"

namespace isomer {

struct GreedyOptions {
  Deadline deadline = Deadline::after(120);
  std::span<const Tactic> tactics = {};
  /// A step must be at least this much faster, with the whole interval above 1.
  double least_speedup = 1.005;
  /// Candidates that the costs predict to be slower than this ratio are not measured; how far below 1 it should be
  /// follows from the error of the costs.
  double least_predicted = 0.95;
  /// Candidates may need this much more floating-point work than the model (Winograd and merging trade work for speed).
  double most_work = 1.5;
  SymbolValues symbols;
  /// Prepares a candidate before it is judged (folds constants); an Error rejects it.
  std::function<Result<Graph>(const Graph&)> prepare;
  /// Weights that no rewrite may make. `prepare` adds those that it cannot fold; what was rejected for them is tried
  /// again without the places that make them. Null: none.
  const RefusedWeights* refused = nullptr;
  /// What a graph costs, for the report of the steps; nothing where that is not known.
  std::function<std::optional<double>(const Graph&)> cost = [](const Graph&) { return std::nullopt; };
  /// Called with a line of progress.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  /// Gets a span for every step, for looking for candidates, and for judging one, and what the best costs; null:
  /// nobody.
  Trace* trace = nullptr;
};

/// First simplifies (unless the oracle sees a loss in that), then goes on step by step until no rule helps or the time
/// is up. Same oracle answers, same result.
Result<SearchResult> greedy_search(const Graph& graph, std::span<const Rule> rules, Oracle& oracle,
                                   const GreedyOptions& options);

}  // namespace isomer
