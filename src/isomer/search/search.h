#pragma once
// What a search is given.

#include <span>
#include <string>

#include "isomer/base/observer.h"
#include "isomer/ops/work.h"
#include "isomer/rules/rule.h"
#include "isomer/search/backtrack.h"
#include "isomer/search/beam.h"
#include "isomer/search/budget.h"
#include "isomer/search/by_parts.h"
#include "isomer/search/evaluator.h"

namespace isomer {

struct SearchOptions {
  std::string search = "auto";
  /// MetaFlow's cutoff: candidates that cost up to alpha times the best are kept.
  double alpha = BacktrackOptions().alpha;
  int64_t split = static_cast<int64_t>(PartsOptions().split);  ///< parts of at most this many operators; 0: no split
  int64_t max_candidates = SearchLimits().budget.candidates;   ///< maximum number of graphs that are costed per part
  int64_t beam_width =
      static_cast<int64_t>(BeamOptions().width);  ///< graphs that beam search keeps after each step; 0: all
  double time_budget_seconds = 45;                ///< for all searches together

  /// Returns the budget that begins now. It ends earlier if `stop` returns true.
  Budget budget(Deadline::Stop stop = nullptr) const {
    return {Deadline::after(time_budget_seconds, std::move(stop)), max_candidates};
  }
};

/// How a search divides its time: shares of what is left when the work begins.
inline constexpr struct {
  double kernels = 0.5;    ///< measuring the kernels of the first graph, before any search
  double by_costs = 0.25;  ///< auto: greedy with costs only
  double greedy = 0.7;     ///< auto: both greedy searches; backtracking may find what this is not enough for
  double parts = 0.7;      ///< the search of the parts; then its result is measured
  double variants = 0.5;   ///< searches of the parts without one of the rules begin within it
} kTimeShares;

/// What a search needs in addition to its options.
struct SearchContext {
  std::span<const Rule> rules;
  std::span<const Tactic> tactics;
  Evaluator& evaluator;  ///< must have costs
  SymbolValues symbols = {};
  Budget budget = SearchLimits().budget;  ///< its candidates are those of each part
  Observer observer = {};                 ///< records the searches with their steps
};

}  // namespace isomer
