#include "isomer/repro/taso/among_fastest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace isomer {
namespace {

using ::testing::ElementsAre;

/// Times within a percent of `center`, in three loads.
LoadedRuns around(double center, unsigned seed) {
  std::mt19937 random(seed);
  LoadedRuns times(3);
  for (std::vector<double>& load : times)
    for (int i = 0; i < 20; ++i) load.push_back(center * (0.99 + 0.02 * static_cast<double>(random() % 1000) / 999));
  return times;
}

TEST(AmongFastest, DifferencesWithinTheNoiseDoNotCount) {
  EXPECT_THAT(among_fastest(std::vector{around(100, 1), around(130, 2), around(100.01, 3)}),
              ElementsAre(true, false, true));
}

TEST(AmongFastest, ALoadThatIsSlowAsAWholeIsNoise) {
  std::vector<LoadedRuns> times{around(100, 1), around(100, 2)};
  for (double& one : times[1][0]) one *= 1.1;
  EXPECT_THAT(among_fastest(times), ElementsAre(true, true));
  for (std::vector<double>& load : times[1])
    for (double& one : load) one *= 1.1;
  EXPECT_THAT(among_fastest(times), ElementsAre(true, false));
}

TEST(AmongFastest, TheMedianIsThatOfAllLoads) {
  EXPECT_EQ(median_of({{1, 2}, {3}, {50, 60}}), 3);
  EXPECT_TRUE(among_fastest({}).empty());
}

}  // namespace
}  // namespace isomer
