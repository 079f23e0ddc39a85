#include "isomer/engine/onednn/processor_peak.h"

#include <gtest/gtest.h>

#include <cmath>

#include "isomer/base/processor.h"

namespace isomer {
namespace {

TEST(ProcessorPeak, DataIsReadFromTheSmallestLevelThatHoldsIt) {
  const ProcessorPeak peak{1, {{"L2", 100, 7}, {"L3", 1000, 5}, {"memory", INFINITY, 2}}};
  EXPECT_EQ(peak.bytes_per_second(0), 7);
  EXPECT_EQ(peak.bytes_per_second(100), 7);
  EXPECT_EQ(peak.bytes_per_second(101), 5);
  EXPECT_EQ(peak.bytes_per_second(1e12), 2);
}

TEST(ProcessorPeak, IsMeasured) {
  const auto peak = measured_peak(1);
  ASSERT_TRUE(peak.has_value()) << peak.error().message;
  EXPECT_GT(peak->flops_per_second, 0);
  ASSERT_FALSE(peak->levels.empty());
  EXPECT_TRUE(std::isinf(peak->levels.back().bytes));
  for (const MemoryLevel& level : peak->levels) EXPECT_GT(level.bytes_per_second, 0) << level.name;
}

TEST(ProcessorPeak, TellsHowLongACacheLineTakesBetweenThreads) {
  EXPECT_EQ(measured_peak(1)->line_seconds, 0);
  const auto peak = measured_peak(2);
  ASSERT_TRUE(peak.has_value()) << peak.error().message;
  EXPECT_EQ(peak->line_seconds > 0, available_cores() > 1);
}

}  // namespace
}  // namespace isomer
