#include "isomer/search/evaluator.h"

#include <utility>

namespace isomer {
namespace {

/// Whether the ratio is faster by more than half of the distance to its low end: about one standard deviation.
bool promising(const Interval& ratio, double min_ratio) {
  return ratio.value > min_ratio && ratio.low <= 1 && ratio.low < ratio.value &&
         ratio.value - 1 > (ratio.value - ratio.low) / 2;
}

}  // namespace

std::optional<double> Evaluator::cost(const Candidate& candidate) {
  if (costs() == nullptr) return std::nullopt;
  const auto metrics = costs()->metrics(candidate);
  return metrics ? std::optional(objective(*metrics)) : std::nullopt;
}

Status make_ready(Evaluator& evaluator, Candidate& candidate) {
  if (!evaluator.costs_decide())
    return evaluator.prepare(candidate).map([&](Candidate ready) { candidate = std::move(ready); });
  if (!evaluator.admits(candidate.graph)) return fail("it cannot be exported");
  return evaluator.check_weights(candidate.graph);
}

Result<Interval> measure_closely(Evaluator& evaluator, const Candidate& current, const Candidate& candidate,
                                 double min_ratio, const Deadline& end) {
  constexpr int kMaxMeasurements = 4;
  ISOMER_TRY(Interval ratio, evaluator.measure(current, candidate));
  for (int i = 1; i < kMaxMeasurements && promising(ratio, min_ratio) && !end.passed(); ++i) {
    ISOMER_TRY(ratio, evaluator.measure(current, candidate));
  }
  return ratio;
}

}  // namespace isomer
