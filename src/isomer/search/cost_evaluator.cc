#include "isomer/search/cost_evaluator.h"

#include <cmath>
#include <limits>

namespace isomer {

Result<Candidate> CostEvaluator::prepare(const Candidate& candidate) {
  return preparation_ == nullptr ? Result<Candidate>(candidate) : preparation_->prepare(candidate);
}

bool CostEvaluator::admits(const Graph& graph) { return preparation_ == nullptr || preparation_->admits(graph); }

RefusedWeights CostEvaluator::refused_in(const Graph& graph) {
  return preparation_ == nullptr ? RefusedWeights() : preparation_->refused_in(graph);
}

Status CostEvaluator::refuse(const RefusedWeights& weights) {
  return preparation_ == nullptr ? Status() : preparation_->refuse(weights);
}

const RefusedWeights* CostEvaluator::refused() const {
  return preparation_ == nullptr ? nullptr : &preparation_->refused();
}

std::optional<double> CostEvaluator::estimate(const Candidate& current, const Candidate& candidate) {
  return ratio(costs_, current, candidate);
}

std::optional<double> CostEvaluator::ratio(CostModel& costs, const Candidate& current,
                                           const Candidate& candidate) const {
  const auto before = costs.metrics(current);
  const auto after = costs.metrics(candidate);
  if (!before || !after) return std::nullopt;
  const double was = objective_.penalized(*before);
  const double is = objective_.penalized(*after);
  if (!std::isfinite(is)) return 0;
  if (objective_.within_limits(*before) && !objective_.within_limits(*after)) return 0;
  if (!std::isfinite(was)) return std::numeric_limits<double>::infinity();
  return is > 0 ? was / is : 1;
}

Result<Interval> CostEvaluator::measure(const Candidate& current, const Candidate& candidate) {
  const auto decided = ratio(deciding_, current, candidate);
  if (!decided) {
    ISOMER_CHECK(deciding_.metrics(current).map([](const Metrics&) {}));
    ISOMER_CHECK(deciding_.metrics(candidate).map([](const Metrics&) {}));
  }
  if (*decided == 0) return fail("the candidate exceeds a limit");
  if (std::isinf(*decided)) return Interval{2, 2, 2};
  return Interval{*decided, *decided, *decided};
}

}  // namespace isomer
