#include "isomer/optimize/predicting_oracle.h"

namespace isomer {

Result<Interval> PredictingOracle::speedup(const Graph& current, const Graph& candidate) {
  const auto before = costs_.metrics(current);
  const auto after = costs_.metrics(candidate);
  // What has no predicted cost can still be run.
  if (!before || !after || after->latency_us <= 0) return measured_.speedup(current, candidate);
  const double ratio = before->latency_us / after->latency_us;
  if (ratio < least_) return Interval{ratio, ratio, ratio};
  return measured_.speedup(current, candidate);
}

}  // namespace isomer
