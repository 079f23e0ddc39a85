#include "isomer/optimize/confirm.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

std::string outcome(const Interval& speedup, double min_speedup = 1.02) {
  OptimizeOptions options;
  options.min_speedup = min_speedup;
  OptimizeReport report;
  report.measured = Measured{.speedup = speedup};
  decide_by_latency(options, report);
  EXPECT_EQ(report.improved, report.outcome.ends_with("faster"));
  return report.outcome;
}

TEST(Confirm, SaysWhyAGainIsNotEnough) {
  EXPECT_EQ(outcome({.value = 1.5, .low = 1.4, .high = 1.6}), "1.50x faster");
  EXPECT_EQ(outcome({.value = 1.016, .low = 1.01, .high = 1.02}),
            "the gain is below --min-speedup 1.02 (1.016x, 95% [1.010, 1.020])");
  EXPECT_EQ(outcome({.value = 1.5, .low = 1.4, .high = 1.6}, 2),
            "the gain is below --min-speedup 2 (1.500x, 95% [1.400, 1.600])");
  EXPECT_EQ(outcome({.value = 1.2, .low = 0.9, .high = 1.6}), "no significant gain (1.200x, 95% [0.900, 1.600])");
}

}  // namespace
}  // namespace isomer
