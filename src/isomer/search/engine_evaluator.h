#pragma once
// Evaluates candidates by running them on an engine, unless the costs rule them out. The estimate acts as a prior: a
// gain of one percent that it predicts is accepted after fewer runs than one that it does not predict.

#include "isomer/search/cost_evaluator.h"
#include "isomer/search/engine_runs.h"

namespace isomer {

/// Returns the posterior of a ratio of latencies. Logarithms of ratios are modelled as normal distributions: `measured`
/// by its 95% interval; the prior by `estimate`, with a standard deviation of 1% plus half of the estimated change.
Interval posterior_ratio(double estimate, const Interval& measured);

class EngineEvaluator : public CostEvaluator {
 public:
  /// Keeps references. If the costs are not those of the engine's kernels (`estimates` is false), estimates do not rule
  /// anything out. If the engine runs several kernels at the same time (`adds_up` is false), they are no priors.
  EngineEvaluator(EngineRuns& runs, bool estimates, bool adds_up, CostModel& costs, const Objective& objective,
                  CostModel* deciding, Preparation* preparation)
      : CostEvaluator(costs, objective, deciding, preparation),
        runs_(runs),
        estimates_(estimates),
        adds_up_(adds_up),
        by_costs_(costs, objective, deciding, preparation) {}

  std::optional<double> estimate(const Candidate& current, const Candidate& candidate) override;
  /// Returns the posterior of the measurement, or only the measurement if there is no prior.
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override;
  bool costs_decide() const override { return false; }
  Evaluator* by_costs() override { return estimates_ ? &by_costs_ : nullptr; }

 private:
  EngineRuns& runs_;
  const bool estimates_;
  const bool adds_up_;
  CostEvaluator by_costs_;
};

}  // namespace isomer
