#pragma once
// What the searches over candidates share: building those that are one rewrite away, and the way back from the best
// one.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "isomer/base/stopwatch.h"
#include "isomer/rules/match.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/options.h"
#include "isomer/search/report.h"

namespace isomer {

/// Returns the cost of a candidate. An Error means that the cost is unavailable; the search then skips the candidate.
using CandidateCost = std::function<Result<double>(const Candidate&)>;

/// What limits a search over candidates.
struct SearchLimits {
  Budget budget = {.candidates = SearchOptions().max_candidates};
  /// Maximum number of operators of a graph, as a multiple of the first graph's (plus a small constant); 0: any number.
  /// Without this limit, rules that turn one operator into several would fill a search with graphs of equal cost.
  double max_growth = SearchOptions().max_growth;
  /// Maximum number of substitutions from the first graph to another one.
  int64_t max_length = std::numeric_limits<int64_t>::max();
  /// Decides which graphs may be kept (`admits`), and whether the weights of a graph that would become the best can be
  /// folded. Its costs are not used. nullptr: all graphs may be kept.
  Evaluator* evaluator = nullptr;
};

/// A candidate with its matches, and the step that led to it.
struct SearchNode : Candidate {
  std::vector<Match> matches = {};
  double cost = 0;
  std::shared_ptr<const SearchNode> parent = nullptr;
  size_t match = 0;    ///< index into the parent's matches
  int64_t length = 0;  ///< number of substitutions from the first graph
};

/// A candidate that has a cost but is not stored: the parent and the match that lead to it.
struct Successor {
  std::shared_ptr<const SearchNode> parent = nullptr;
  size_t match = 0;
  double cost = 0;
};

/// A candidate that was built to be costed.
struct CostedCandidate : Candidate {
  double cost = 0;
};

/// The result of a search over candidates.
struct FoundCandidate : Candidate {
  double cost_before = 0;
  double cost_after = 0;
  /// The substitutions from the first graph to `graph`, each with its change of the cost. `stop_reason` is that of the
  /// budget; "growth limit" if only graphs that grew too large are left; or "exhausted".
  SearchReport report = {};
};

/// The candidates that a search has seen, and the best of them.
class Expansion {
 public:
  /// `algorithm` is the name for the report. All arguments must outlive the expansion.
  Expansion(const char* algorithm, std::span<const Rule> rules, const CandidateCost& cost, const SearchLimits& limits);

  /// Returns the first candidate with all its matches; it is also the best so far. An Error if it has no cost.
  Result<SearchNode> begin(const Candidate& first);
  /// Whether a limit ends a search that stores so many bytes; the report then gets the reason.
  bool stopped(int64_t stored = 0);
  /// Builds and costs the candidate that a match leads to. Without decisions, duplicates are recognized by their hash
  /// before they are built. Nothing if it is a duplicate, grows too large, is too many steps away or has no cost.
  std::optional<CostedCandidate> cost(const SearchNode& parent, size_t match);
  /// Whether the graph that `successor` leads to may be kept. If it is the cheapest so far, it becomes the best.
  bool keep(const Successor& successor, const Graph& graph);
  /// Builds the candidate of a successor and its matches. They are inherited from the parent, as are `marks`, marked
  /// nodes of the parent, which become those of the new graph.
  SearchNode build(const Successor& successor, std::vector<bool>& marks);

  const Successor& best() const { return best_; }
  int64_t candidates() const { return report_.candidates; }
  /// Returns the best candidate and the steps from `first` to it. Ends the search.
  FoundCandidate result(const Candidate& first);

 private:
  /// Whether a candidate with this hash is seen for the first time. Counts duplicates.
  bool is_new(uint64_t hash);

  const std::span<const Rule> rules_;
  const CandidateCost& cost_;
  const SearchLimits& limits_;
  const RefusedWeights* const refused_;
  const Stopwatch watch_;
  std::unordered_set<uint64_t> seen_;
  Successor best_;
  double first_cost_ = 0;
  SearchReport report_;
  double max_ops_ = std::numeric_limits<double>::infinity();
  bool outgrown_ = false;  // a graph was dropped because it grew too large
};

}  // namespace isomer
