#include "isomer/search/cost_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Costs a microsecond and a given amount of memory per node.
class FlatCost : public CostModel {
 public:
  explicit FlatCost(double bytes) : bytes_(bytes) {}
  Result<Metrics> metrics(const Candidate& candidate, const Boundary&) override {
    const auto nodes = static_cast<double>(candidate.graph.nodes().size());
    return Metrics{.latency_us = nodes, .peak_bytes = bytes_ * nodes};
  }
  Result<std::vector<PlannedKernel>> kernels(const Candidate&) override { return fail("none"); }

 private:
  const double bytes_;
};

TEST(CostEvaluator, DecidesByTheCostsThatKnowBetter) {
  const Graph three = parse_graph("input x: f32[2]\n y = Relu(x)\n z = Tanh(y)\n return z", find_op).value();
  const Graph two = parse_graph("input x: f32[2]\n y = Relu(x)\n return y", find_op).value();
  FlatCost estimated(10);
  FlatCost planned(20);
  Objective objective;
  ASSERT_TRUE(objective.add_limit("peak_bytes <= 45").has_value());
  CostEvaluator alone(estimated, objective);
  CostEvaluator decided(estimated, objective, &planned);
  EXPECT_NEAR(decided.estimate(two, three).value(), 2.0 / 3, 1e-9) << "both keep the limit, as far as is estimated";
  EXPECT_TRUE(alone.measure(two, three).has_value());
  const auto beyond = decided.measure(two, three);
  ASSERT_FALSE(beyond.has_value()) << "it takes 60 bytes, not 30";
  EXPECT_THAT(beyond.error().message, testing::HasSubstr("exceeds a limit"));
  EXPECT_GT(decided.measure(three, two).value().low, 1) << "back within the limit";
}

}  // namespace
}  // namespace isomer
