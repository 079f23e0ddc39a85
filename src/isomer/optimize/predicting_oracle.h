#pragma once
// An oracle that measures only what a cost model does not rule out.

#include "isomer/cost/cost_model.h"
#include "isomer/search/oracle.h"

namespace isomer {

class PredictingOracle : public Oracle {
 public:
  /// Keeps references to both. Candidates that the costs predict to be slower than `least` times the current graph are
  /// not measured; the model's error decides how far below 1 that should be.
  PredictingOracle(CostModel& costs, Oracle& measured, double least = 0.95)
      : costs_(costs), measured_(measured), least_(least) {}

  /// The predicted ratio (an interval of one point) where it rules the candidate out, else what was measured.
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override;

 private:
  CostModel& costs_;
  Oracle& measured_;
  const double least_;
};

}  // namespace isomer
