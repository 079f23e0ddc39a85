#include "isomer/base/dim.h"

#include <gtest/gtest.h>

#include <limits>

namespace isomer {
namespace {

const Dim N = Dim::symbol("N");
const Dim M = Dim::symbol("M");

TEST(Dim, ArithmeticHasANormalForm) {
  EXPECT_EQ(N + M, M + N);
  EXPECT_EQ((N + 1) * (N - 1), N * N - 1);
  EXPECT_EQ(N - N, Dim(0));
  EXPECT_TRUE((N - N + 3).is(3));
  EXPECT_EQ((M * N + N + 2) - (N * M + 2), N);
  EXPECT_EQ((N + 1) - (M + 2), Dim(-1) * M + N - 1);
  EXPECT_FALSE(N == M);
}

TEST(Dim, DivisionIsExactWhereItComesOutEven) {
  EXPECT_EQ(floor_div(N * 64, 64), N);
  EXPECT_EQ(floor_div(N * M * 6, M * 2), N * 3);
  EXPECT_EQ(floor_div(Dim(-7), Dim(2)), Dim(-4));
  EXPECT_EQ(ceil_div(Dim(7), Dim(2)), Dim(4));
  EXPECT_EQ(floor_div(N + 1, 2), floor_div(Dim(1) + N, 2));
  EXPECT_FALSE(floor_div(N + 1, 2) == floor_div(N, 2));
}

TEST(Dim, TheLeastIntegerIsDividedWithoutOverflow) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(floor_div(Dim(kLeast), Dim(-1)), Dim(Dim::kHuge));
  EXPECT_EQ(floor_div(Dim(kLeast), Dim(2)), Dim(kLeast / 2));
  EXPECT_FALSE(floor_div(Dim(kLeast), N * -1).is_const());
}

TEST(Dim, ComparisonIsDecidedOnlyForEverySymbolValue) {
  EXPECT_EQ(at_least(N + 3, N), true);
  EXPECT_EQ(at_least(N, N + 1), false);
  EXPECT_EQ(at_least(N, Dim(1)), std::nullopt);
  EXPECT_EQ(at_least(N * M, Dim(0)), true);
}

TEST(Dim, PrintsAndEvaluates) {
  EXPECT_EQ((N * 2 + M * N - 1).str(), "M*N+2*N-1");
  const auto value_of = [](const std::string& name) -> std::optional<int64_t> {
    if (name == "N") return 5;
    return std::nullopt;
  };
  EXPECT_EQ((N * N - 1).evaluate(value_of), 24);
  EXPECT_EQ((N + M).evaluate(value_of), std::nullopt);
}

TEST(Dim, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(Dim(Dim::kHuge) * Dim(Dim::kHuge), Dim(Dim::kHuge));
  EXPECT_EQ(Dim(Dim::kHuge) * N + N, Dim(Dim::kHuge) * N);
  EXPECT_EQ(Dim(-Dim::kHuge) * N - N, Dim(-Dim::kHuge) * N);
  EXPECT_EQ(at_least(N, Dim(std::numeric_limits<int64_t>::min())), true);
}

}  // namespace
}  // namespace isomer
