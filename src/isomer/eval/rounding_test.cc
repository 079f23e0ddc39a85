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
  for (int i = 0; i < 100; ++i)
    numbers.push_back((i % 2 == 0 ? 1.0F : -1.0F) * std::ldexp(1.0F + 0.01F * static_cast<float>(i), i - 60));
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

TEST(Rounding, OnlyNumbersOfThirtyTwoBitsOrMore) {
  EXPECT_EQ(std::abs(with_last_bits_changed(Tensor::of<double>(DType::Double, {}, {1.5}), 1).data<double>()[0] - 1.5),
            std::numeric_limits<double>::epsilon());
  for (const Tensor& given : {Tensor::of<Half>(DType::Half, {}, {Half(1.5F)}),
                              Tensor::of<BFloat16>(DType::BFloat16, {}, {BFloat16(1.5F)}), Tensor::ints({2}, {1, 2})})
    EXPECT_TRUE(std::ranges::equal(with_last_bits_changed(given, 1).bytes(), given.bytes()));
}

/// Four elements, of which the first is 100, and the last `moved` of them differ from 1 by 100 times `relative`.
std::vector<Tensor> outputs(double relative = 0, size_t moved = 1) {
  std::vector<float> elements{100, 1, 1, 1};
  for (size_t i = elements.size() - moved; i < elements.size(); ++i) elements[i] += static_cast<float>(100 * relative);
  return {Tensor::floats({4}, elements)};
}

/// The comparison of such outputs with those that do not differ.
Comparison compared(double relative, size_t moved = 1) {
  return compare_outputs(outputs(relative, moved), outputs(), kAnyReals).value();
}

/// The movement after one trial in which one element moves.
Movement moved_by(double relative) {
  Movement out;
  EXPECT_TRUE(out.account(outputs(relative), outputs()).has_value());
  return out;
}

TEST(Rounding, TheToleranceGrowsWithTheMovementUpToABound) {
  EXPECT_EQ(Movement().tolerance(0), 1e-4);
  EXPECT_EQ(moved_by(0x1p-20).tolerance(0), 1e-4);
  EXPECT_DOUBLE_EQ(moved_by(0x1p-11).tolerance(0), 10 * 0x1p-11);
  EXPECT_EQ(moved_by(0.5).tolerance(0), 0.25);
  EXPECT_EQ(moved_by(0.5).tolerance(1), 1e-4) << "of another output";
}

TEST(Rounding, WhereOneElementMovesFarNotAllMayDiffer) {
  const Movement movement = moved_by(0x1p-6);
  EXPECT_TRUE(movement.explains(0, compared(0x1p-4, 1)));
  EXPECT_TRUE(movement.explains(0, compared(0x1p-4, 2)));
  EXPECT_FALSE(movement.explains(0, compared(0x1p-3, 3))) << "the mean";
  EXPECT_FALSE(movement.explains(0, compared(0x1p-2, 1))) << "the largest";
  EXPECT_FALSE(Movement().explains(0, compared(0)));
}

TEST(Rounding, TheFurthestTrialCounts) {
  Movement out = moved_by(0x1p-11);
  ASSERT_TRUE(out.account(outputs(), outputs()).has_value());
  EXPECT_DOUBLE_EQ(out[0], 0x1p-11);
  ASSERT_TRUE(out.account(std::vector<Tensor>{Tensor::ints({4}, {9, 9, 9, 9})}, outputs()).has_value());
  EXPECT_DOUBLE_EQ(out[0], 0x1p-11) << "a trial with another type or extent says nothing";
  EXPECT_EQ(out.trials(), 3);
  EXPECT_FALSE(out.account(std::vector<Tensor>{}, outputs()).has_value());
}

/// What differs_by_rounding says of an output that differs by `difference`, of a model that moves by `movement` in each
/// third trial; and after how many trials.
std::pair<bool, int> judged(double difference, std::optional<double> tolerance, double movement) {
  Movement so_far;
  const auto move = [&](Movement& more) {
    return more.account(outputs(more.trials() % 3 == 2 ? movement : 0), outputs());
  };
  const bool holds = differs_by_rounding(0, compared(difference), tolerance, so_far, move).value();
  return {holds, so_far.trials()};
}

TEST(Rounding, MovementIsMeasuredUntilItExplainsADifference) {
  using Pair = std::pair<bool, int>;
  EXPECT_EQ(judged(5e-5, std::nullopt, 0), Pair(true, 0));
  EXPECT_EQ(judged(1e-3, std::nullopt, 0x1p-11), Pair(true, 3));
  EXPECT_EQ(judged(1e-3, std::nullopt, 0x1p-15), Pair(false, Movement::kTrials));
  EXPECT_EQ(judged(0.3, std::nullopt, 0.5), Pair(false, 0)) << "beyond what is ever allowed";
  EXPECT_EQ(judged(1e-3, 5e-4, 0.5), Pair(false, 0)) << "a given tolerance is strict";
  EXPECT_EQ(judged(2e-2, 1e-1, 0), Pair(true, 0));
}

/// An output of these elements, and others of one element each.
std::vector<Tensor> with_others(const std::vector<float>& elements, const std::vector<float>& others) {
  const auto size = static_cast<int64_t>(elements.size());
  std::vector<Tensor> out{Tensor::floats({size}, elements)};
  for (const float other : others) out.push_back(Tensor::floats({}, {other}));
  return out;
}

/// Whether output 0 counts as equal, if `got` is there instead of `expected`; it is `moved` in turn in the trials where
/// only last bits change.
bool counts_as_equal(const std::vector<float>& got, const std::vector<float>& expected,
                     const std::vector<std::vector<float>>& moved, const std::vector<float>& others = {1, 1}) {
  const Comparison comparison =
      compare_outputs(with_others(got, others), with_others(expected, others), kAnyReals).value();
  Movement movement;
  const auto move = [&](Movement& more) {
    const std::vector<float>& now = moved[static_cast<size_t>(more.trials()) % moved.size()];
    return more.account(with_others(now, others), with_others(expected, others));
  };
  return differs_by_rounding(0, comparison, std::nullopt, movement, move).value();
}

TEST(Rounding, NoiseMayBeAnyNoise) {
  const std::vector<float> noise{1e-9F, -2e-9F, 1.5e-9F}, other{-1e-9F, 1e-9F, 2e-9F}, third{2e-9F, 2e-9F, -1e-9F};
  EXPECT_TRUE(counts_as_equal(other, noise, {third}));
  EXPECT_TRUE(counts_as_equal({0, 0, 0}, noise, {third}));
  EXPECT_FALSE(counts_as_equal(other, noise, {noise})) << "it does not move";
  EXPECT_FALSE(counts_as_equal(other, noise, {noise, third})) << "it moves in few trials";
  EXPECT_FALSE(counts_as_equal(other, noise, {{1.1e-9F, -2e-9F, 1.5e-9F}})) << "it moves less";
  EXPECT_FALSE(counts_as_equal({1e-3F, 1e-9F, 2e-9F}, noise, {third})) << "too large";
  EXPECT_FALSE(counts_as_equal({std::nanf(""), 1e-9F, 2e-9F}, noise, {third}));
}

TEST(Rounding, WhatIsAsLargeAsOtherOutputsIsNoNoise) {
  const std::vector<float> one{1e-3F, -2e-3F, 1.5e-3F}, other{-1e-3F, 1e-3F, 2e-3F}, third{2e-3F, 2e-3F, -1e-3F};
  EXPECT_FALSE(counts_as_equal(other, one, {third}));
  EXPECT_FALSE(counts_as_equal(other, one, {third}, {1e30F})) << "one of two is large, such as a mask";
  EXPECT_FALSE(counts_as_equal(other, one, {third}, {1e-3F, 1e30F}));
  EXPECT_FALSE(counts_as_equal(other, one, {third}, {}));
  EXPECT_TRUE(counts_as_equal(other, one, {third}, {1e6F, 1e6F}));
}

TEST(Rounding, OtherElementsMustBeEqual) {
  Movement movement;
  const auto never = [](Movement&) -> Status { return fail("not asked"); };
  EXPECT_FALSE(differs_by_rounding(0, {{{.beyond = 1}}}, std::nullopt, movement, never).value());
  EXPECT_FALSE(differs_by_rounding(0, {{{.not_finite = 1}}}, 1.0, movement, never).value());
  EXPECT_FALSE(differs_by_rounding(0, {{{.problem = "another type"}}}, 1.0, movement, never).value());
  EXPECT_FALSE(differs_by_rounding(0, {{{.max_rel = std::nan("")}}}, std::nullopt, movement, never).value());
  EXPECT_FALSE(differs_by_rounding(0, {{{.max_rel = 1e-3}}}, std::nullopt, movement, never).has_value()) << "its Error";
}

}  // namespace
}  // namespace isomer
