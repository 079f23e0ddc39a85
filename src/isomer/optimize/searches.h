#pragma once
// The searches by the names that --search takes.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/trace.h"
#include "isomer/cost/cost_model.h"
#include "isomer/rules/rule.h"
#include "isomer/runtime/work.h"
#include "isomer/search/oracle.h"
#include "isomer/search/report.h"

namespace isomer {

/// "auto", "greedy", "backtrack", "enumerate".
const std::vector<std::string>& search_names();

struct SearchOptions {
  std::string search = "auto";
  double alpha = 1.05;              ///< MetaFlow's cutoff: candidates up to alpha times the cost of the best are kept
  int64_t split = 30;               ///< parts of at most this many operators; 0: no split
  int64_t max_candidates = 1000;    ///< graphs that may be costed in one part
  double time_budget_seconds = 45;  ///< of all searches together
};

/// What a search works with.
struct SearchContext {
  std::span<const Rule> rules;
  std::span<const Tactic> tactics;
  CostModel& costs;
  Oracle& oracle;
  /// Judges by the costs alone, where `oracle` measures as well; else null.
  Oracle* foresight = nullptr;
  SymbolValues symbols;
  std::function<double(const Metrics&)> objective;
  /// Folds constants; an Error where a weight cannot be folded, or a graph cannot be exported.
  std::function<Result<Graph>(const Graph&)> prepare;
  /// Whether the operators of a graph that run can be exported.
  std::function<bool(const Graph&)> admits;
  /// Whether the weights of a graph can be folded.
  std::function<bool(const Graph&)> foldable = [](const Graph&) { return true; };
  /// Weights that no rewrite may make: those that `prepare` and `foldable` found that they cannot fold. Null: none.
  const RefusedWeights* refused = nullptr;
  std::function<void(const std::string&)> progress;
  Deadline deadline = Deadline::never();  ///< of the search, if that comes before its time budget ends
  Trace* trace = nullptr;                 ///< gets the searches with their steps; null: nobody
};

/// greedy: tactics and whole rules, judged by the oracle. backtrack: simplifies, then MetaFlow's search. enumerate:
/// MetaFlow's search without a cutoff. auto: greedy by the costs alone, kept where it is measured to be faster; greedy
/// by the oracle; then backtrack from the faster result of the two.
Result<SearchResult> run_search(const Graph& graph, const SearchOptions& options, const SearchContext& context);

}  // namespace isomer
