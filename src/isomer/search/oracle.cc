#include "isomer/search/oracle.h"

namespace isomer {
namespace {

/// Faster by more than half of what separates the estimate from the low end: about one standard deviation.
bool promising(const Interval& ratio, double least) {
  return ratio.value > least && ratio.low <= 1 && ratio.low < ratio.value &&
         ratio.value - 1 > (ratio.value - ratio.low) / 2;
}

}  // namespace

Result<Interval> look_closely(Oracle& oracle, const Graph& current, const Graph& candidate, double least,
                              const Deadline& end) {
  constexpr int kLooks = 4;
  ISOMER_TRY(Interval ratio, oracle.speedup(current, candidate));
  for (int look = 1; look < kLooks && promising(ratio, least) && !end.passed(); ++look) {
    ISOMER_TRY(ratio, oracle.speedup(current, candidate));
  }
  return ratio;
}

}  // namespace isomer
