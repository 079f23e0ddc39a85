#include "isomer/eval/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isomer/ops/half.h"

namespace isomer {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

TEST(Rounding, EveryNumberBecomesOneOfItsNeighbours) {
  std::vector<float> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back((i % 2 == 0 ? 1.0F : -1.0F) * std::ldexp(1.0F + 0.01F * i, i - 60));
  const Tensor moved = with_last_bits_changed(Tensor::floats({100}, numbers), 7);
  int up = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float got = moved.data<float>()[i];
    EXPECT_TRUE(got == std::nextafter(numbers[i], kInfinite) || got == std::nextafter(numbers[i], -kInfinite))
        << numbers[i];
    up += got > numbers[i] ? 1 : 0;
  }
  EXPECT_GT(up, 30);
  EXPECT_LT(up, 70);
}

TEST(Rounding, ZerosAndWhatIsNotFiniteStay) {
  const float largest = std::numeric_limits<float>::max();
  const Tensor given = Tensor::floats({5}, {0.0F, -0.0F, kInfinite, -kInfinite, std::nanf("")});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_TRUE(std::ranges::equal(with_last_bits_changed(given, seed).bytes(), given.bytes()));
    const Tensor ends = with_last_bits_changed(Tensor::floats({2}, {largest, -largest}), seed);
    EXPECT_EQ(ends.data<float>()[0], std::nextafter(largest, 0.0F));
    EXPECT_EQ(ends.data<float>()[1], std::nextafter(-largest, 0.0F));
  }
}

TEST(Rounding, EveryTypeOfSixteenBitsOrMore) {
  EXPECT_EQ(std::abs(with_last_bits_changed(Tensor::of<double>(DType::Double, {}, {1.5}), 1).data<double>()[0] - 1.5),
            std::numeric_limits<double>::epsilon());
  const Tensor half = with_last_bits_changed(Tensor::of<Half>(DType::Half, {}, {Half(1.5F)}), 1);
  EXPECT_EQ(std::abs(half.data<Half>()[0] - 1.5F), 0x1p-10F);
  const Tensor brain = with_last_bits_changed(Tensor::of<BFloat16>(DType::BFloat16, {}, {BFloat16(1.5F)}), 1);
  EXPECT_EQ(std::abs(brain.data<BFloat16>()[0] - 1.5F), 0x1p-7F);
  const Tensor integers = Tensor::ints({2}, {1, 2});
  EXPECT_TRUE(std::ranges::equal(with_last_bits_changed(integers, 1).bytes(), integers.bytes()));
}

/// The movement after one trial in which one output moves by `relative`.
Movement moved_by(double relative) {
  Movement out;
  const std::vector<Tensor> expected{Tensor::floats({2}, {1, 100})};
  EXPECT_TRUE(
      out.account(std::vector<Tensor>{Tensor::floats({2}, {1 + static_cast<float>(100 * relative), 100})}, expected)
          .has_value());
  return out;
}

TEST(Rounding, TheToleranceGrowsWithTheMovementUpToABound) {
  EXPECT_EQ(Movement().tolerance(0), 1e-4);
  EXPECT_EQ(moved_by(0x1p-20).tolerance(0), 1e-4);
  EXPECT_DOUBLE_EQ(moved_by(0x1p-11).tolerance(0), 0x1p-10);
  EXPECT_EQ(moved_by(0.5).tolerance(0), 0.25);
}

TEST(Rounding, TheFurthestTrialCounts) {
  Movement out = moved_by(0x1p-11);
  const std::vector<Tensor> expected{Tensor::floats({2}, {1, 100})};
  ASSERT_TRUE(out.account(expected, expected).has_value());
  EXPECT_DOUBLE_EQ(out[0], 0x1p-11);
  EXPECT_FALSE(out.account(std::vector<Tensor>{Tensor::ints({2}, {1, 100})}, expected).has_value());
  EXPECT_FALSE(out.account(std::vector<Tensor>{}, expected).has_value());
}

/// What differs_by_rounding says of an output that differs by `difference`, of a model that moves by `movement`; and
/// whether it asked for that.
std::pair<bool, bool> judged(double difference, std::optional<double> tolerance, double movement) {
  bool asked = false;
  const auto measure = [&]() -> Result<Movement> {
    asked = true;
    return moved_by(movement);
  };
  const bool holds = differs_by_rounding({.max_rel = difference}, 0, tolerance, measure).value();
  return {holds, asked};
}

TEST(Rounding, MovementIsMeasuredOnlyIfItMatters) {
  using Pair = std::pair<bool, bool>;
  EXPECT_EQ(judged(5e-5, std::nullopt, 0), Pair(true, false));
  EXPECT_EQ(judged(9e-4, std::nullopt, 0x1p-11), Pair(true, true));
  EXPECT_EQ(judged(1e-3, std::nullopt, 0x1p-14), Pair(false, true));
  EXPECT_EQ(judged(0.3, std::nullopt, 0.5), Pair(false, false)) << "beyond what is ever allowed";
  EXPECT_EQ(judged(std::nan(""), std::nullopt, 0.5), Pair(false, false));
  EXPECT_EQ(judged(1e-3, 5e-4, 0.5), Pair(false, false)) << "a given tolerance is strict";
  EXPECT_EQ(judged(2e-2, 1e-1, 0), Pair(true, false));
  EXPECT_FALSE(differs_by_rounding({.max_rel = 1e-3}, 0, std::nullopt, [] { return Result<Movement>(fail("no")); }));
}

TEST(Rounding, OtherElementsMustBeEqual) {
  const auto never = []() -> Result<Movement> { return fail("not asked"); };
  EXPECT_FALSE(differs_by_rounding({.beyond = 1}, 0, std::nullopt, never).value());
  EXPECT_FALSE(differs_by_rounding({.not_finite = 1}, 0, 1.0, never).value());
  EXPECT_FALSE(differs_by_rounding({.problem = "another type"}, 0, 1.0, never).value());
}

}  // namespace
}  // namespace isomer
