#pragma once
// An oracle that asks the cost model first, and the engine about what the costs do not rule out. Where both answer, the
// costs are the prior of what is measured: a gain of one percent that both see is believed after fewer runs, and one
// that the costs do not see has to show more clearly.

#include "isomer/cost/cost_model.h"
#include "isomer/cost/objective.h"
#include "isomer/search/oracle.h"

namespace isomer {

/// The posterior of a ratio of latencies, as normal distributions of logarithms: `measured` with its 95% interval, and
/// before it the costs' `predicted` with a standard deviation of 1% and half of the predicted change.
Interval posterior_ratio(double predicted, const Interval& measured);

class PredictingOracle : public Oracle {
 public:
  /// Keeps references. Without `measured` (null) the costs decide alone: where there is no engine, or where the
  /// objective is not a time. What `costs` do not rule out is judged by `judging` costs, which may take longer and know
  /// better; null: by the same.
  PredictingOracle(CostModel& costs, const Objective& objective, Oracle* measured, CostModel* judging = nullptr)
      : costs_(costs), judging_(judging == nullptr ? costs : *judging), objective_(objective), measured_(measured) {}

  /// The ratio of the objectives; from a graph beyond a limit, of the guided objectives: what comes nearer is better,
  /// and what comes within better by far. 0 where the candidate exceeds a limit that the current graph keeps.
  std::optional<double> predicted(const Graph& current, const Graph& candidate) override;
  /// The posterior of what was measured, or the ratio by the judging costs (an interval of one point) where nothing is
  /// measured. An Error where that is 0.
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override;

 private:
  std::optional<double> ratio(CostModel& costs, const Graph& current, const Graph& candidate) const;

  CostModel& costs_;
  CostModel& judging_;
  const Objective& objective_;
  Oracle* const measured_;
};

}  // namespace isomer
