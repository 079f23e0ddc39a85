#include "isomer/optimize/predicting_oracle.h"

#include <cmath>
#include <limits>

namespace isomer {

namespace {

constexpr double kNormal95 = 1.96;  // standard deviations on either side that hold 95% of a normal distribution

}  // namespace

Interval posterior_ratio(double predicted, const Interval& measured) {
  const double prior = std::log(predicted);
  const double prior_deviation = 0.01 + 0.5 * std::abs(prior);
  const double deviation = (std::log(measured.high) - std::log(measured.low)) / (2 * kNormal95);
  // One that is not finite (no pairs) or has no width (one pair) tells nothing about its error.
  if (!(deviation > 0)) return measured;
  const double prior_weight = 1 / (prior_deviation * prior_deviation);
  const double weight = 1 / (deviation * deviation);
  const double mean = (prior_weight * prior + weight * std::log(measured.value)) / (prior_weight + weight);
  const double half = kNormal95 / std::sqrt(prior_weight + weight);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

std::optional<double> PredictingOracle::predicted(const Graph& current, const Graph& candidate) {
  return ratio(costs_, current, candidate);
}

std::optional<double> PredictingOracle::ratio(CostModel& costs, const Graph& current, const Graph& candidate) const {
  const auto before = costs.metrics(current);
  const auto after = costs.metrics(candidate);
  if (!before || !after) return std::nullopt;
  const double was = objective_.guided(*before);
  const double is = objective_.guided(*after);
  if (!std::isfinite(is)) return 0;
  if (objective_.within_limits(*before) && !objective_.within_limits(*after)) return 0;
  if (!std::isfinite(was)) return std::numeric_limits<double>::infinity();
  return is > 0 ? was / is : 1;
}

Result<Interval> PredictingOracle::speedup(const Graph& current, const Graph& candidate) {
  const auto before = judging_.metrics(current);
  const auto judged = ratio(judging_, current, candidate);
  if (!judged) {  // what has no predicted cost can still be run
    if (measured_ != nullptr) return measured_->speedup(current, candidate);
    ISOMER_CHECK(before.map([](const Metrics&) {}));
    ISOMER_CHECK(judging_.metrics(candidate).map([](const Metrics&) {}));
  }
  if (*judged == 0) return fail("the candidate exceeds a limit");
  if (std::isinf(*judged)) return Interval{2, 2, 2};
  if (measured_ == nullptr || !objective_.within_limits(*before)) return Interval{*judged, *judged, *judged};
  ISOMER_TRY(const Interval measured, measured_->speedup(current, candidate));
  return posterior_ratio(*judged, measured);
}

}  // namespace isomer
