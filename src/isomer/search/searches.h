#pragma once
// The searches, by the names that --search takes.

#include <span>
#include <string>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/observer.h"
#include "isomer/ops/work.h"
#include "isomer/rules/rule.h"
#include "isomer/search/beam.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/metaflow.h"
#include "isomer/search/report.h"

namespace isomer {

/// "auto", "greedy", "backtrack", "beam", "enumerate".
std::vector<std::string> search_names();

struct SearchOptions {
  std::string search = "auto";
  /// MetaFlow's cutoff: candidates that cost up to alpha times the best are kept.
  double alpha = MetaflowOptions().alpha;
  int64_t split = static_cast<int64_t>(MetaflowOptions().split);  ///< parts of at most this many operators; 0: no split
  int64_t max_candidates = MetaflowOptions().max_candidates;      ///< maximum number of graphs that are costed per part
  int64_t beam_width =
      static_cast<int64_t>(BeamOptions().width);  ///< graphs that beam search keeps after each step; 0: all
  double time_budget_seconds = 45;                ///< for all searches together
};

/// What a search needs in addition to its options.
struct SearchContext {
  std::span<const Rule> rules;
  std::span<const Tactic> tactics;
  Evaluator& evaluator;  ///< must have costs
  SymbolValues symbols = {};
  Deadline deadline = Deadline::never();  ///< of the search; its time budget may end earlier
  Observer observer = {};                 ///< records the searches with their steps
};

/// greedy: measures tactics and rules. backtrack: simplifies, then runs MetaFlow's search. beam: the same, with beam
/// search in the parts. enumerate: MetaFlow's search without a cutoff. auto: greedy with costs only, whose result is
/// kept if it is measured to be faster; then greedy with every step measured; then backtrack from the faster of the two
/// results. Rules choose channel blocks that the evaluator's costs prefer. An Error if there is no such search.
Result<SearchResult> run_search(const Candidate& first, const SearchOptions& options, const SearchContext& context);

}  // namespace isomer
