#include "isomer/optimize/searches.h"

#include <gtest/gtest.h>

#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/optimize/predicting_oracle.h"
#include "isomer/rules/builtin.h"

namespace isomer {
namespace {

/// An engine that does what the roofline says, but for a factor on whatever was changed.
class Measured : public Oracle {
 public:
  explicit Measured(double factor) : factor_(factor) {}
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override {
    ++asked;
    ISOMER_TRY(const Metrics before, costs_.metrics(current));
    ISOMER_TRY(const Metrics after, costs_.metrics(candidate));
    const double ratio = factor_ * before.latency_us / after.latency_us;
    return Interval{ratio, ratio - 0.001, ratio + 0.001};
  }
  int asked = 0;

 private:
  const double factor_;
  RooflineCost costs_;
};

/// What `auto` finds with the roofline's foresight and a measuring oracle.
SearchResult found(const Graph& graph, Oracle& measured, bool foresight) {
  const RuleFile file = builtin_rule_file().value();
  RooflineCost costs;
  const Objective latency;
  PredictingOracle predicting(costs, latency, nullptr);
  const SearchContext context{.rules = file.rules,
                              .tactics = file.tactics,
                              .costs = costs,
                              .oracle = measured,
                              .foresight = foresight ? &predicting : nullptr,
                              .symbols = {},
                              .objective = [&](const Metrics& metrics) { return latency(metrics); },
                              .prepare = [](const Graph& next) { return next; },
                              .admits = [](const Graph&) { return true; },
                              .progress = [](const std::string&) {}};
  return run_search(graph, {.time_budget_seconds = 1e6}, context).value();
}

TEST(Searches, KeepTheGraphWhenNoPromiseOfTheCostsHolds) {
  const Graph graph = build_model("sru").value();
  Measured slower(0.01);
  const SearchResult result = found(graph, slower, true);
  EXPECT_EQ(result.graph.hash(), graph.hash());
  EXPECT_TRUE(result.report.steps.empty());
}

TEST(Searches, MeasureAllThatTheCostsPromiseAtOnce) {
  const Graph graph = build_model("sru").value();
  Measured faster(1), stepwise(1);
  const SearchResult at_once = found(graph, faster, true);
  const SearchResult step_by_step = found(graph, stepwise, false);
  RooflineCost costs;
  EXPECT_LT(costs.metrics(at_once.graph).value().latency_us, costs.metrics(graph).value().latency_us);
  EXPECT_LT(faster.asked, stepwise.asked);
  ASSERT_FALSE(at_once.report.steps.empty());
  EXPECT_EQ(at_once.report.steps.front().speedup, 0) << "no step of these was measured by itself";
}

}  // namespace
}  // namespace isomer
