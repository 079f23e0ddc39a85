#include "isomer/optimize/predicting_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

TEST(PosteriorRatio, LeavesWhatWasMeasuredSharply) {
  const Interval ratio = posterior_ratio(1.0, {1.10, 1.0999, 1.1001});
  EXPECT_NEAR(ratio.value, 1.10, 1e-3);
}

TEST(PosteriorRatio, BelievesSmallGainsThatBothSeeSooner) {
  const Interval measured{1.02, 0.998, 1.043};
  EXPECT_LE(posterior_ratio(1.0, measured).low, 1);
  EXPECT_GT(posterior_ratio(1.02, measured).low, 1);
  EXPECT_LT(posterior_ratio(0.98, measured).value, 1.02);
}

TEST(PosteriorRatio, IsNarrowerThanWhatWasMeasured) {
  const Interval measured{1.02, 0.99, 1.05};
  const Interval ratio = posterior_ratio(1.01, measured);
  EXPECT_GT(ratio.low, measured.low);
  EXPECT_LT(ratio.high, measured.high);
}

TEST(PosteriorRatio, IsWhatWasMeasuredWhereNothingTellsItsError) {
  const Interval ratio = posterior_ratio(1.2, {1.1, 1.1, 1.1});
  EXPECT_EQ(ratio.value, 1.1);
  EXPECT_TRUE(std::isnan(posterior_ratio(1.2, {NAN, NAN, NAN}).value));
}

/// A microsecond and a given memory for each node.
class FlatCost : public CostModel {
 public:
  explicit FlatCost(double bytes) : bytes_(bytes) {}
  Result<Metrics> metrics(const Graph& graph, const Boundary&) override {
    const auto nodes = static_cast<double>(graph.nodes().size());
    return Metrics{.latency_us = nodes, .peak_bytes = bytes_ * nodes};
  }
  Result<std::vector<PlannedKernel>> kernels(const Graph&) override { return fail("none"); }

 private:
  const double bytes_;
};

TEST(PredictingOracle, JudgesByTheCostsThatKnowBetter) {
  const Graph three = parse_graph("input x: f32[2]\n y = Relu(x)\n z = Tanh(y)\n return z", find_op).value();
  const Graph two = parse_graph("input x: f32[2]\n y = Relu(x)\n return y", find_op).value();
  FlatCost foreseen(10);
  FlatCost planned(20);
  Objective objective;
  ASSERT_TRUE(objective.add_limit("peak_bytes <= 45").has_value());
  PredictingOracle alone(foreseen, objective, nullptr);
  PredictingOracle judged(foreseen, objective, nullptr, &planned);
  EXPECT_NEAR(judged.predicted(two, three).value(), 2.0 / 3, 1e-9) << "both keep the limit, as far as is foreseen";
  EXPECT_TRUE(alone.speedup(two, three).has_value());
  const auto beyond = judged.speedup(two, three);
  ASSERT_FALSE(beyond.has_value()) << "it takes 60 bytes, not 30";
  EXPECT_THAT(beyond.error().message, testing::HasSubstr("exceeds a limit"));
  EXPECT_GT(judged.speedup(three, two).value().low, 1) << "back within the limit";
}

}  // namespace
}  // namespace isomer
