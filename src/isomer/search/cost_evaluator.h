#pragma once
// Evaluates candidates only by costs: of a described device, or of an engine's kernels.

#include "isomer/cost/cost_model.h"
#include "isomer/cost/objective.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/preparation.h"

namespace isomer {

class CostEvaluator : public Evaluator {
 public:
  /// Keeps references. Candidates that `costs` does not rule out are decided by `deciding`, which may be slower and
  /// more accurate; nullptr: `costs` decides. Without a `preparation`, every candidate may be kept as it is.
  CostEvaluator(CostModel& costs, const Objective& objective, CostModel* deciding = nullptr,
                Preparation* preparation = nullptr)
      : costs_(costs),
        deciding_(deciding == nullptr ? costs : *deciding),
        objective_(objective),
        preparation_(preparation) {}

  Result<Candidate> prepare(const Candidate& candidate) override;
  bool admits(const Graph& graph) override;
  RefusedWeights refused_in(const Graph& graph) override;
  Status refuse(const RefusedWeights& weights) override;
  const RefusedWeights* refused() const override;
  CostModel* costs() override { return &costs_; }
  double objective(const Metrics& metrics) const override { return objective_.penalized(metrics); }
  bool weighs_memory() const override { return objective_.uses_memory(); }
  bool weighs_latency() const override { return objective_.minimizes(&Metrics::latency_us); }
  bool weighs_paths() const override { return objective_.uses_paths(); }
  /// Returns the ratio of the objectives or, if `current` exceeds a limit, of the penalized objectives. So a
  /// candidate that exceeds the limit by less is better, and one within the limit is better by a large factor. Returns
  /// 0 if the candidate exceeds a limit that `current` keeps.
  std::optional<double> estimate(const Candidate& current, const Candidate& candidate) override;
  /// Returns the ratio by the deciding costs, as an interval of one point. An Error if the ratio is 0 or unknown.
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override;
  bool costs_decide() const override { return &deciding_ == &costs_; }

 protected:
  std::optional<double> ratio(CostModel& costs, const Candidate& current, const Candidate& candidate) const;

  CostModel& costs_;
  CostModel& deciding_;
  const Objective& objective_;
  Preparation* const preparation_;
};

}  // namespace isomer
