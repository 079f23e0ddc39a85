#include "isomer/search/engine_evaluator.h"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace isomer
