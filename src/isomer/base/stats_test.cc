#include "isomer/base/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// The ratio of one group.
Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b, uint64_t seed = 1,
                      int resamples = 2000) {
  return grouped_ratio({&a, 1}, {&b, 1}, seed, resamples);
}

TEST(Stats, MedianAndPercentiles) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  EXPECT_TRUE(std::isnan(median({})));

  const std::vector<double> ten = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(percentile(ten, 0), 1);
  EXPECT_EQ(percentile(ten, 1), 10);
  EXPECT_NEAR(percentile(ten, 0.95), 9.55, 1e-12);
  EXPECT_EQ(percentile(ten, 2), 10) << "p is clamped";
}

TEST(Stats, TrimmedMeanLeavesOutBothEnds) {
  EXPECT_EQ(trimmed_mean({1000, 1, 2, 3, 4, 5, 6, 7, 8, -1000}, 0.1), 4.5);
  EXPECT_EQ(trimmed_mean({3, 1, 2}, 0.1), 2) << "a tenth of three samples is none";
  EXPECT_EQ(trimmed_mean({7}, 0.49), 7);
}

TEST(Stats, PairedRatioFindsTheRatioUnderCommonNoise) {
  Rng rng(7);
  std::vector<double> a, b;
  for (int i = 0; i < 200; ++i) {
    const double machine = 1 + 3 * rng.uniform();  // affects both runs of a pair
    a.push_back(machine * 120 * (1 + 0.02 * rng.normal()));
    b.push_back(machine * 100 * (1 + 0.02 * rng.normal()));
  }
  const Interval ratio = paired_ratio(a, b);
  EXPECT_NEAR(ratio.value, 1.2, 0.01);
  EXPECT_LT(ratio.low, ratio.value);
  EXPECT_GT(ratio.high, ratio.value);
  EXPECT_LT(ratio.high - ratio.low, 0.03);
  EXPECT_LT(ratio.low, 1.2);
  EXPECT_GT(ratio.high, 1.2);
}

TEST(Stats, PairedRatioIntervalHoldsTheTruthAboutAsOftenAsItSays) {
  Rng rng(11);
  int held = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < 40; ++i) {
      a.push_back(std::exp(0.1 * rng.normal()));
      b.push_back(1);
    }
    const Interval ratio = paired_ratio(a, b, trial, 400);
    held += ratio.low <= 1 && 1 <= ratio.high;
  }
  EXPECT_GE(held, kTrials * 88 / 100);
}

TEST(Stats, PairedRatioEdges) {
  const Interval same = paired_ratio(std::vector<double>{2, 2, 2}, std::vector<double>{2, 2, 2, 9});
  EXPECT_EQ(same.value, 1);
  EXPECT_EQ(same.low, 1);
  EXPECT_EQ(same.high, 1);
  EXPECT_TRUE(std::isnan(paired_ratio({}, {}).low));
  EXPECT_DOUBLE_EQ(paired_ratio(std::vector<double>{2, 3}, std::vector<double>{0, 1}).value, 3)
      << "no division by zero";

  const std::vector<double> a = {1, 2, 3, 4, 5}, b = {2, 2, 2, 2, 2};
  EXPECT_EQ(paired_ratio(a, b, 3).low, paired_ratio(a, b, 3).low);
}

TEST(GroupedRatio, SeesThatWholeGroupsAreShifted) {
  // Equal models; memory placement shifts the groups by 3% in alternating directions.
  std::vector<std::vector<double>> a;
  std::vector<std::vector<double>> b;
  for (const double shift : {1.03, 1 / 1.03, 1.03, 1 / 1.03}) {
    a.emplace_back(20, 100.0 * shift);
    b.emplace_back(20, 100.0);
  }
  const Interval grouped = grouped_ratio(a, b);
  EXPECT_NEAR(grouped.value, 1, 0.001);
  EXPECT_LT(grouped.low, 1);
  EXPECT_GT(grouped.high, 1);
  // The first group on its own would suggest a significant difference.
  EXPECT_GT(paired_ratio(a[0], b[0]).low, 1.02);
}

TEST(GroupedRatio, KeepsItsValueWhereOneGroupIsSpoilt) {
  std::vector<std::vector<double>> a(4, std::vector<double>(20, 147.0));
  const std::vector<std::vector<double>> b(4, std::vector<double>(20, 100.0));
  a[2].assign(20, 2300.0);  // another program ran whenever the first model did
  const Interval ratio = grouped_ratio(a, b);
  EXPECT_NEAR(ratio.value, 1.47, 1e-9);
  EXPECT_NEAR(ratio.low, 1.47, 1e-9);
  EXPECT_GT(ratio.high, 5) << "one group in four may be right";
}

TEST(GroupedRatio, OfSwappedSamplesIsTheInverse) {
  const std::vector<std::vector<double>> a{{3, 4, 5}, {6, 9}};
  const std::vector<std::vector<double>> b{{2, 2, 3}, {5, 5}};
  const Interval ratio = grouped_ratio(a, b), inverse = grouped_ratio(b, a);
  EXPECT_NEAR(ratio.value * inverse.value, 1, 1e-12);
  EXPECT_LT(ratio.low, ratio.high);
}

TEST(GroupedRatio, OfOneGroupIsTheMedianRatio) {
  const std::vector<std::vector<double>> a{{3, 4, 5, 6, 9}};
  const std::vector<std::vector<double>> b{{2, 2, 2, 2, 2}};
  EXPECT_EQ(grouped_ratio(a, b).value, 2.5);
  EXPECT_TRUE(std::isnan(grouped_ratio({}, {}).value));
}

TEST(RankCorrelation, DependsOnTheOrderOnly) {
  const std::vector<double> a{1, 2, 3, 100}, b{-8, 0, 0.5, 0.6}, reversed{9, 5, 4, 1};
  EXPECT_DOUBLE_EQ(rank_correlation(a, b), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(a, reversed), -1);
}

TEST(RankCorrelation, OfEqualValuesUsesTheirMeanRank) {
  const std::vector<double> a{1, 2, 2, 4}, b{10, 30, 20, 40};  // ranks 0, 1.5, 1.5, 3 and 0, 2, 1, 3
  EXPECT_NEAR(rank_correlation(a, b), 4.5 / std::sqrt(4.5 * 5.0), 1e-12);
  EXPECT_TRUE(std::isnan(rank_correlation(a, std::vector<double>(4, 7.0))));
  EXPECT_TRUE(std::isnan(rank_correlation({}, {})));
}

}  // namespace
}  // namespace isomer
