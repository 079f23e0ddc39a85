#include "isomer/engine/neighbor_times.h"

#include <gtest/gtest.h>

#include "isomer/base/processor.h"
#include "isomer/engine/engine.h"

namespace isomer {
namespace {

constexpr double kMebibyte = 1 << 20;

TEST(NeighborTimes, AreCosts) {
  const NeighborCosts costs = to_costs({100, 101, 110, 50, 55, 80, 10, 9, 14, 0.1});
  EXPECT_DOUBLE_EQ(costs.slowdown[0][0], 1.01);
  EXPECT_DOUBLE_EQ(costs.slowdown[0][1], 1.1);
  EXPECT_DOUBLE_EQ(costs.slowdown[1][0], 1.1);
  EXPECT_DOUBLE_EQ(costs.slowdown[1][1], 1.6);
  EXPECT_DOUBLE_EQ(costs.memory_us, 50 / kMebibyte);
  EXPECT_DOUBLE_EQ(costs.cache_us, 10 / kMebibyte);
  EXPECT_DOUBLE_EQ(costs.transfer_us, 5 / kMebibyte);
  EXPECT_DOUBLE_EQ(costs.synchronization_us, 0.1);
}

TEST(NeighborTimes, MakeNothingFaster) {
  const NeighborCosts costs = to_costs({100, 90, 90, 50, 40, 40, 10, 9, 8, 0.1});
  for (const auto& row : costs.slowdown)
    for (const double slowdown : row) EXPECT_EQ(slowdown, 1);
  EXPECT_EQ(costs.transfer_us, 0);
}

TEST(NeighborTimes, AreMeasured) {
  const auto engine = make_engine("onednn", {.threads = 2}).value();
  const auto times = engine->neighbor_times();
  ASSERT_EQ(times.has_value(), available_cores() > 1);
  if (!times) return;
  for (size_t i = 0; i < times->size(); ++i) {
    EXPECT_GT((*times)[i], 0) << kNeighborTimes[i];
    EXPECT_LT((*times)[i], 1e6) << kNeighborTimes[i];
  }
  EXPECT_FALSE(make_engine("reference").value()->neighbor_times().has_value());
}

}  // namespace
}  // namespace isomer
