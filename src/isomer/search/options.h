#pragma once
// What a user can set about a search.

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "isomer/base/processor.h"
#include "isomer/search/budget.h"

namespace isomer {

struct SearchOptions {
  std::string search = "auto";
  /// MetaFlow's cutoff: candidates that cost up to alpha times the best are kept.
  double alpha = 1.05;
  int64_t max_uphill = 2;   ///< steps in a row that backtracking takes without a gain; 0: any number, anywhere
  double max_growth = 1.5;  ///< operators of a graph, as a multiple of the first graph's; 0: any number
  int64_t max_length = 0;   ///< substitutions on the way to a graph; 0: any number
  int64_t split = 30;       ///< parts of at most this many operators; 0: no split
  /// What is searched: "substitution", "layout", "sequential" (one after the other) or "joint".
  std::string layout = "substitution";
  int64_t max_candidates = 1000;  ///< maximum number of graphs that are costed per part
  /// Threads that make candidates of greedy and, if costs are not measured, search parts; 0: see `threads`.
  int64_t search_threads = 0;
  int64_t beam_width = 8;                    ///< graphs that beam search keeps after each step; 0: all
  int64_t queue = 20;                        ///< sequences that sampling keeps after each step
  int64_t eta = 1;                           ///< substitutions in a row that may increase the cost in sampling
  double critical_path_weight = 0.25;        ///< autograph: of the critical path in the mixed cost
  double beta = 1.1;                         ///< autograph: candidates that cost up to beta times the best are kept
  int64_t autograph_split = 40;              ///< operators of the smallest parts
  int64_t autograph_merge = 120;             ///< operators of parts that are searched together
  int64_t autograph_top = 20;                ///< graphs that are measured in each round
  std::string extract = "exact";             ///< how equality saturation extracts: "greedy" or "exact"
  int64_t egraph_nodes = 2000;               ///< maximum number of nodes of an e-graph
  int64_t egraph_iterations = 30;            ///< maximum number of iterations of equality saturation
  double extract_seconds = 5;                ///< for one exact extraction
  int64_t search_memory = int64_t{4} << 30;  ///< bytes that a search which stores all graphs may use for one part
  /// For all searches together. If it is not given, `auto` ends when more time is not expected to pay.
  std::optional<double> time_budget_seconds = std::nullopt;

  /// Returns `search_threads`, or if it is 0, one for each core, but at most 8: sample and saturate may store up to
  /// `search_memory` in each.
  int threads() const {
    constexpr int kMaxDefault = 8;
    return search_threads > 0 ? static_cast<int>(search_threads) : std::min(available_cores(), kMaxDefault);
  }

  /// Returns `max_length` as a limit.
  int64_t length_limit() const { return max_length == 0 ? std::numeric_limits<int64_t>::max() : max_length; }

  /// Returns the seconds that all searches together may take.
  double max_seconds() const {
    constexpr double kDefault = 45;
    return time_budget_seconds.value_or(kDefault);
  }

  /// Returns the budget that begins now. It ends earlier if `stop` returns true.
  Budget budget(Deadline::Stop stop = nullptr) const {
    return {Deadline::after(max_seconds(), std::move(stop)), max_candidates, search_memory};
  }
};

}  // namespace isomer
