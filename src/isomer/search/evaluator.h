#pragma once
// What a search needs to know about candidates: whether one may be kept, what it costs, and whether it is faster than
// another.

#include <optional>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/base/stats.h"
#include "isomer/cost/cost_model.h"
#include "isomer/ir/derivation.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// By default every candidate may be kept, and nothing has a cost.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// Returns the candidate with its constants folded. An Error, which rejects it, if a weight must not be computed or
  /// the graph cannot be exported.
  virtual Result<Candidate> prepare(const Candidate& candidate) { return candidate; }
  /// Returns whether the operators that run can be exported, which depends only on their attributes and numbers of
  /// operands. Faster than `prepare`.
  virtual bool admits([[maybe_unused]] const Graph& graph) { return true; }
  /// Returns the weights of a graph that must not be computed.
  virtual RefusedWeights refused_in([[maybe_unused]] const Graph& graph) { return {}; }
  /// Returns an Error with the reason of one of these weights, if there are any. From now on, `refused` has them.
  virtual Status refuse([[maybe_unused]] const RefusedWeights& weights) { return {}; }
  Status check_weights(const Graph& graph) { return refuse(refused_in(graph)); }  ///< does both
  /// Returns the weights that no rewrite may create: those refused so far, also by `prepare`. nullptr: none.
  virtual const RefusedWeights* refused() const { return nullptr; }

  /// Returns the costs of candidates and of their parts; nullptr: none.
  virtual CostModel* costs() { return nullptr; }
  /// Returns the number that the search minimizes. A value of kBeyondLimits or more means that a limit is exceeded.
  /// When a part is searched, the memory of values outside it counts too; a result that makes the whole graph exceed a
  /// limit is not used.
  virtual double objective(const Metrics& metrics) const { return metrics.latency_us; }
  /// Returns whether the objective or a limit depends on the memory.
  virtual bool weighs_memory() const { return false; }
  /// Returns whether the objective depends on the latency, so that it is in microseconds.
  virtual bool weighs_latency() const { return true; }
  /// Returns whether the objective or a limit depends on the critical path.
  virtual bool weighs_paths() const { return false; }
  /// Returns the objective of a candidate, or nothing if its cost is unknown.
  virtual std::optional<double> cost(const Candidate& candidate);

  /// Returns the ratio of `current` to `candidate` by the costs, before anything runs; above 1, the candidate is
  /// better. Infinite if the candidate meets a limit that `current` exceeds, 0 if it newly exceeds one. Nothing if
  /// there are no costs.
  virtual std::optional<double> estimate([[maybe_unused]] const Candidate& current,
                                         [[maybe_unused]] const Candidate& candidate) {
    return std::nullopt;
  }
  /// Returns the same ratio with its 95% interval, from runs of both graphs or from the costs. An Error if the
  /// candidate cannot be run; the search then skips it. An evaluator that runs candidates runs them again at each call,
  /// and answers from all runs of the pair.
  virtual Result<Interval> measure(const Candidate& current, const Candidate& candidate) = 0;
  /// Returns whether `measure` compares `costs()` and nothing that is more accurate.
  virtual bool costs_decide() const { return false; }
  /// Returns an evaluator that uses costs in place of runs; nullptr if there are no runs, or no costs to rely on.
  virtual Evaluator* by_costs() { return nullptr; }
};

/// Makes a candidate ready to be measured: folds its constants. Where costs decide, only checks that they can be
/// folded: costs are the same, and every candidate with folded constants needs memory for them. An Error as `prepare`.
Status make_ready(Evaluator& evaluator, Candidate& candidate);

/// Returns the evaluator's measurement. Repeats it (at most three times, and not after `end`) while the candidate is
/// probably better than `min_ratio` but the interval is too wide to be sure that it is faster at all.
Result<Interval> measure_closely(Evaluator& evaluator, const Candidate& current, const Candidate& candidate,
                                 double min_ratio, const Deadline& end);

}  // namespace isomer
