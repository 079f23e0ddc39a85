#include "isomer/search/engine_evaluator.h"

#include <cmath>

namespace isomer {

namespace {

// number of standard deviations on either side that contain 95% of a normal distribution
constexpr double kNormal95 = 1.96;

}  // namespace

Interval posterior_ratio(double estimate, const Interval& measured) {
  const double prior = std::log(estimate);
  const double prior_deviation = 0.01 + 0.5 * std::abs(prior);
  const double deviation = (std::log(measured.high) - std::log(measured.low)) / (2 * kNormal95);
  // An interval that is not finite (no pairs) or has no width (one pair) gives no error estimate.
  if (!(deviation > 0)) return measured;
  const double prior_weight = 1 / (prior_deviation * prior_deviation);
  const double weight = 1 / (deviation * deviation);
  const double mean = (prior_weight * prior + weight * std::log(measured.value)) / (prior_weight + weight);
  const double half = kNormal95 / std::sqrt(prior_weight + weight);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

std::optional<double> EngineEvaluator::estimate(const Candidate& current, const Candidate& candidate) {
  return estimates_ ? CostEvaluator::estimate(current, candidate) : std::nullopt;
}

Result<Interval> EngineEvaluator::measure(const Candidate& current, const Candidate& candidate) {
  const auto decided = estimates_ ? ratio(deciding_, current, candidate) : std::nullopt;
  if (!decided) return runs_.speedup(current, candidate);  // one without a cost can still be run
  const bool kept_limits = objective_.within_limits(*deciding_.metrics(current));
  if (*decided == 0 || std::isinf(*decided) || !kept_limits) return CostEvaluator::measure(current, candidate);
  ISOMER_TRY(const Interval measured, runs_.speedup(current, candidate));
  return adds_up_ ? posterior_ratio(*decided, measured) : measured;
}

}  // namespace isomer
