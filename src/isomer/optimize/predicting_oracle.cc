#include "isomer/optimize/predicting_oracle.h"

#include <cmath>

namespace isomer {

Result<Interval> PredictingOracle::speedup(const Graph& current, const Graph& candidate) {
  const auto before = costs_.metrics(current);
  const auto after = costs_.metrics(candidate);
  if (!before || !after) {  // what has no predicted cost can still be run
    if (measured_ != nullptr) return measured_->speedup(current, candidate);
    return tl::unexpected<Error>((before ? after : before).error());
  }
  const double was = objective_(*before);
  const double is = objective_(*after);
  if (!std::isfinite(is)) return fail("the candidate exceeds a limit");
  // From a graph beyond the limits, any within them is a gain.
  if (!std::isfinite(was)) return Interval{2, 2, 2};
  const double ratio = is > 0 ? was / is : 1;
  if (measured_ == nullptr || ratio < least_) return Interval{ratio, ratio, ratio};
  return measured_->speedup(current, candidate);
}

}  // namespace isomer
