#include "isomer/eval/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isomer/ops/half.h"

namespace isomer {
namespace {

using testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Compare, MeasuresAgainstTheLargestExpectedElement) {
  const auto row = compare_tensors(Tensor::floats({3}, {1, 0.5, -4.25}), Tensor::floats({3}, {1, 0, -4}));
  EXPECT_EQ(row.max_abs, 0.5);
  EXPECT_EQ(row.max_rel, 0.125);
  EXPECT_DOUBLE_EQ(row.mean_rel, std::sqrt((0.25 + 0.0625) / 3) / 4);
  EXPECT_EQ(row.beyond, 2);
  EXPECT_FALSE(row.equal());
}

TEST(Compare, TolerancesAreRelativeToEachElement) {
  const Tensor got = Tensor::floats({2}, {1000.5F, 0.0005F});
  const Tensor expected = Tensor::floats({2}, {1000, 0});
  EXPECT_EQ(compare_tensors(got, expected).beyond, 1);
  EXPECT_TRUE(compare_tensors(got, expected, {.rtol = 1e-3, .atol = 1e-3}).equal());
  EXPECT_EQ(compare_tensors(got, expected, {.rtol = 0, .atol = 0}).beyond, 2);
}

TEST(Compare, WhatIsNotFiniteMustBeTheSame) {
  const Tensor expected = Tensor::floats({3}, {kInf, -kInf, kNaN});
  EXPECT_TRUE(compare_tensors(expected, expected).equal());
  EXPECT_EQ(compare_tensors(Tensor::floats({3}, {kInf, kInf, 0}), expected).not_finite, 2);
  EXPECT_EQ(compare_tensors(Tensor::floats({3}, {1, 2, kNaN}), expected).not_finite, 2);
}

TEST(Compare, HalfTypesAreNumbers) {
  const Tensor a = Tensor::of<Half>(DType::Half, {1}, {Half(1.0F)});
  const Tensor b = Tensor::of<Half>(DType::Half, {1}, {Half(1.5F)});
  EXPECT_EQ(compare_tensors(a, b).max_abs, 0.5);
}

TEST(Compare, IntegersAndStringsExactly) {
  EXPECT_EQ(compare_tensors(Tensor::ints({3}, {1, 2, 3}), Tensor::ints({3}, {1, 5, 4})).beyond, 2);
  EXPECT_TRUE(compare_tensors(Tensor::strings({2}, {"a", "b"}), Tensor::strings({2}, {"a", "b"})).equal());
  EXPECT_EQ(compare_tensors(Tensor::strings({2}, {"a", "b"}), Tensor::strings({2}, {"a", "c"})).beyond, 1);
}

TEST(Compare, TypesAndExtentsMustAgree) {
  const auto row = compare_tensors(Tensor::floats({2}, {1, 2}), Tensor::floats({2, 1}, {1, 2}));
  EXPECT_THAT(row.str(), HasSubstr("f32[2] instead of f32[2,1]"));
  EXPECT_FALSE(row.equal());
  EXPECT_FALSE(compare_tensors(Tensor(), Tensor::floats({}, {1})).equal());
  EXPECT_TRUE(compare_tensors(Tensor::floats({0}, {}), Tensor::floats({0}, {})).equal());
}

TEST(Compare, ListsTellTheWorst) {
  const std::vector<Tensor> got{Tensor::floats({1}, {1}), Tensor::floats({1}, {3})};
  const std::vector<Tensor> expected{Tensor::floats({1}, {1}), Tensor::floats({1}, {2})};
  const auto comparison = compare_outputs(got, expected);
  ASSERT_TRUE(comparison.has_value());
  EXPECT_FALSE(comparison->equal());
  EXPECT_EQ(comparison->max_abs(), 1);
  EXPECT_EQ(comparison->max_rel(), 0.5);
  EXPECT_FALSE(compare_outputs(got, std::vector<Tensor>{}).has_value());
}

}  // namespace
}  // namespace isomer
