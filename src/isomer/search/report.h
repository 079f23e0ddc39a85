#pragma once
// What every search returns: the candidate that it found and how it got there.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/base/stats.h"
#include "isomer/ir/derivation.h"
#include "isomer/plan/candidate.h"

namespace isomer {

/// A change of the objective between two graphs.
struct CostChange {
  double by = 0;
  bool penalized = false;  ///< one of the graphs exceeds a limit, so `by` is a difference of penalties

  CostChange() = default;
  CostChange(double before, double after);
};

/// One step of a search: a rule, applied at one or more places at once.
struct SearchStep {
  std::string rule;
  uint64_t rule_hash = 0;
  /// Names of the values that were replaced ("op#id" for values without a name).
  std::vector<std::string> nodes = {};
  /// Number of operators that depend on run-time inputs, before and after the step.
  size_t ops_before = 0;
  size_t ops_after = 0;
  /// Change of the objective (by default, in microseconds) according to the costs.
  double delta = 0;
  /// The graph before or after exceeds a limit, so that `delta` is a difference of penalties.
  bool penalized = false;
  /// The step was measured together with the steps before it, back to the first one that is not joined. That step's
  /// `delta` and `speedup` are for all of them; here both are 0.
  bool joined = false;
  /// Measured (or modelled) ratio of the latencies before and after; 0 if the step was taken without a measurement.
  double speedup = 0;
  /// What was done, for a certificate. All moves of all steps, in order, lead from the graph that the search began with
  /// to its result, except for constants that are folded in between (SearchReport::folds). Of steps that rewrite
  /// together, the first has the moves of all.
  std::vector<Move> moves = {};
};

/// A candidate that could not be evaluated, and why: it does not run, its outputs differ, or it cannot be exported.
struct Rejection {
  std::string rule;
  std::string reason;
  bool operator==(const Rejection&) const = default;
};

/// Joins steps that were measured as one; `change` is that of all of them.
void join_steps(std::span<SearchStep> steps, const CostChange& change);

/// The objective of the best graph so far, from some time on.
struct SearchProgress {
  double seconds = 0;  ///< since the search began
  double cost = 0;
};

/// A graph that a search compared with the best one so far: its predicted costs, and the result.
struct MeasuredGraph {
  uint64_t hash = 0;
  double latency_us = 0;        ///< the sum of its kernels
  double critical_path_us = 0;  ///< as in Metrics
  double makespan_us = 0;       ///< of its kernels on the cores that they may use (cost/kernel_tasks.h)
  double cost = 0;              ///< what the search ranks graphs by
  /// Over the graph that the search began with: the product of the ratios of the graphs that were the best one after
  /// the other, each with the one before. The interval is that of the last ratio.
  Interval speedup = {};
};

struct SearchReport {
  /// Adds the counts, the seconds and the notes of another search.
  void add_counts(const SearchReport& other);
  /// Adds why another search of the same kind ended. The end of the time counts most, because its result is not the
  /// same on another machine; other limits count more than a growth limit, and that more than exhaustion.
  void also_ended(const std::string& reason);
  /// Appends a later search, which began `began` seconds after this one.
  void append(SearchReport next, double began);
  /// Adds a rejection, unless an equal one is present.
  void reject(const std::string& rule, const Error& error);
  /// Adds a note, unless an equal one is present.
  void note(const std::string& text);

  std::string algorithm;
  /// "exhausted", "growth limit", "time budget", "interrupted", "candidate budget" or "memory"; of equality saturation
  /// also "node limit", "iteration limit", "sibling limit", "extraction limit" or "no derivation".
  std::string stop_reason = {};
  int64_t candidates = 0;  ///< graphs that were built and considered
  int64_t duplicates = 0;  ///< built, but seen before
  int64_t matches = 0;
  double seconds = 0;
  std::vector<SearchStep> steps = {};
  std::vector<Rejection> rejected = {};  ///< without duplicates
  /// What else the search has to say about its result, in sentences without a period.
  std::vector<std::string> notes = {};
  /// Foldings of constants, each as a move. They complete the moves of the steps.
  std::vector<Move> folds = {};
  /// Costs of whole graphs, where known: of the first graph, and of each one that became the best.
  std::vector<SearchProgress> progress = {};
  std::vector<MeasuredGraph> measured = {};  ///< that autograph compared, in order
};

struct SearchResult : Candidate {
  /// Returns to the candidate that the search began with.
  void reset(const Candidate& first) {
    static_cast<Candidate&>(*this) = first;
    report.steps.clear();
    report.progress.clear();
  }

  SearchReport report = {};
};

}  // namespace isomer
