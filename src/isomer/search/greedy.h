#pragma once
// Greedy search. Each step applies the one tactic or rule (at all places, or at similar ones) that makes the complete
// model fastest.

#include <span>

#include "isomer/base/deadline.h"
#include "isomer/base/observer.h"
#include "isomer/ops/work.h"
#include "isomer/rules/rule.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/report.h"

namespace isomer {

struct GreedyOptions {
  Deadline deadline = Deadline::never();
  std::span<const Tactic> tactics = {};
  /// A step is accepted only if it is faster by at least this factor, and the whole interval is above 1.
  double min_speedup = 1.005;
  /// Candidates with an estimated ratio below this are not measured: few of them are faster by `min_speedup`.
  double min_estimate = 1.0015;
  /// Maximum floating-point work of a candidate, as a multiple of the model's. (Winograd and merging trade work for
  /// speed.)
  double max_work = 1.5;
  SymbolValues symbols = {};
  Observer observer = {};
  int threads = 1;  ///< that make and simplify candidates; nothing is measured meanwhile
};

/// Simplifies first (unless the evaluator measures a loss), then takes steps until no rule helps or the time is up. The
/// observer gets the best cost, and spans for every step, for finding candidates, and for measuring each. Equal
/// measurements give equal results.
Result<SearchResult> greedy_search(const Candidate& first, std::span<const Rule> rules, Evaluator& evaluator,
                                   const GreedyOptions& options);

}  // namespace isomer
