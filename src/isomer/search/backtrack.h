#pragma once
// Cost-based backtracking search (MetaFlow, section 4.2, algorithm 1).

#include <set>

#include "isomer/search/expansion.h"

namespace isomer {

struct BacktrackOptions {
  /// A candidate is kept while it costs less than alpha times the best graph. With 1 only a candidate that is cheaper
  /// than all before it is kept (greedy); with infinity every candidate is (exhaustive).
  double alpha = SearchOptions().alpha;
  /// Maximum number of consecutive steps that may leave the graph no cheaper than before them. These steps must be
  /// adjacent in the graph (see docs/reference/search.md). 0: any number, anywhere.
  int64_t max_uphill = SearchOptions().max_uphill;
  SearchLimits limits = {};
};

struct BacktrackState;

/// Searches that all begin with the same candidate, each without some of the rules. If one reaches a graph by the same
/// steps as an earlier one, its matches and costs are known.
class Backtracking {
 public:
  /// Keeps references to all arguments. `keep_states`: whether `run` is called more than once, so that graphs are kept.
  Backtracking(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
               const BacktrackOptions& options, bool keep_states)
      : first_(first), rules_(rules), cost_(cost), options_(options), kept_{keep_states} {}

  /// Searches without the rules of these names, and costs at most `candidates` of them. Fails only if the first
  /// candidate has no cost.
  Result<FoundCandidate> run(const std::set<std::string>& without, int64_t candidates);

  /// The graphs that were expanded, if `keep_states`; the first is that with which all searches begin.
  struct Kept {
    const bool keep_states;
    std::vector<std::shared_ptr<const BacktrackState>> states = {};
  };

 private:
  const Candidate& first_;
  const RuleIndex rules_;
  const CandidateCost& cost_;
  const BacktrackOptions& options_;
  Kept kept_;
};

/// Searches the candidates that the rules generate, in the order of fewest uphill steps, then lowest cost. The queue
/// stores a parent, a match and a cost, not graphs. Duplicates are recognized by their hash (Expansion::cost), and
/// matches are inherited from the parent. Fails only if `first` itself has no cost.
Result<FoundCandidate> backtrack(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                 const BacktrackOptions& options);

}  // namespace isomer
