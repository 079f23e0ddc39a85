#include "isomer/models/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace isomer {
namespace {

TEST(Weights, AreTheSameOnEveryMachine) {
  // A change of these values changes every network. Recorded results are then no longer valid for networks of that
  // name.
  const Tensor weight = seeded_weight("conv1.weight", {3}, 0, 1, 7);
  EXPECT_EQ(weight, Tensor::floats({3}, {-0.674582005F, -0.440346956F, 0.818967581F}));
}

TEST(Weights, DependOnNameAndSeedAlone) {
  const Tensor weight = seeded_weight("a", {4, 5}, 0, 1, 7);
  EXPECT_EQ(seeded_weight("a", {4, 5}, 0, 1, 7), weight);
  EXPECT_FALSE(seeded_weight("b", {4, 5}, 0, 1, 7) == weight);
  EXPECT_FALSE(seeded_weight("a", {4, 5}, 0, 1, 8) == weight);
}

TEST(Weights, FillTheirRange) {
  const Tensor weight = seeded_weight("a", {1001}, 2, 0.5F, 0);
  float low = 2;
  float high = 2;
  double sum = 0;
  for (const float v : weight.data<float>()) {
    low = std::min(low, v);
    high = std::max(high, v);
    sum += static_cast<double>(v);
  }
  EXPECT_GE(low, 1.5F);
  EXPECT_LT(low, 1.51F);
  EXPECT_LT(high, 2.5F);
  EXPECT_GT(high, 2.49F);
  EXPECT_NEAR(sum / 1001, 2, 0.05);
}

TEST(Weights, KeepTheSizeOfASum) {
  // The variance of a weight, radius^2 / 3, times the number of products.
  EXPECT_NEAR(std::pow(static_cast<double>(fan_in_radius(300, 2)), 2) / 3 * 300, 2, 1e-5);
}

}  // namespace
}  // namespace isomer
