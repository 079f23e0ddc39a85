#pragma once
// What every search returns: the graph it found and how it got there.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isomer/ir/derivation.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// One step of a search: a rule, applied at some places at once.
struct SearchStep {
  std::string rule;
  uint64_t rule_hash = 0;
  /// Names (or "op#id") of the values that were replaced.
  std::vector<std::string> nodes = {};
  /// Operators before and after the step that depend on run-time inputs.
  size_t ops_before = 0;
  size_t ops_after = 0;
  /// Change of what the search minimizes (microseconds, unless it has another objective), by its costs.
  double delta = 0;
  /// The step was judged together with those before it, back to one that is not joined; `delta` and `speedup` of that
  /// one tell what all of them change, and are 0 here.
  bool joined = false;
  /// Measured (or modelled) ratio of the latencies before and after; 0 where the step was taken without asking.
  double speedup = 0;
  /// What was done, for a certificate. All moves of all steps, in order, lead from the graph that the search began with
  /// to its result, but for constants that are folded in between (SearchReport::folds). Steps that rewrite together
  /// have theirs at the first.
  std::vector<Move> moves = {};
};

/// A candidate that could not be judged, and why: it does not run, its outputs differ, or it cannot be exported.
struct Rejection {
  std::string rule;
  std::string reason;
  bool operator==(const Rejection&) const = default;
};

/// Joins steps that were judged as one; `delta` is what they change together.
void join_steps(std::span<SearchStep> steps, double delta);

/// What the best graph so far costs (by what the search minimizes), from a time on.
struct SearchProgress {
  double seconds = 0;  ///< since the search began
  double cost = 0;
};

struct SearchReport {
  std::string algorithm;
  std::string stop_reason = {};  ///< "exhausted", "time budget", "interrupted", "candidate budget"
  int64_t candidates = 0;        ///< graphs that were built and looked at
  int64_t duplicates = 0;        ///< built, but seen before
  int64_t matches = 0;
  double seconds = 0;
  std::vector<SearchStep> steps = {};
  std::vector<Rejection> rejected = {};  ///< equal ones once
  /// Foldings of constants, each as a move: they join the moves of the steps.
  std::vector<Move> folds = {};
  /// Of whole graphs, where their cost is known: at the start, and whenever another became the best.
  std::vector<SearchProgress> progress = {};
};

struct SearchResult {
  Graph graph;
  SearchReport report;
};

}  // namespace isomer
