#include "isomer/search/min_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

double sum_of(std::span<const Factor> factors, const std::vector<bool>& assignment) {
  double sum = 0;
  for (const Factor& factor : factors) {
    size_t index = 0;
    for (size_t i = 0; i < factor.variables.size(); ++i)
      index |= static_cast<size_t>(assignment[factor.variables[i]]) << i;
    sum += factor.values[index];
  }
  return sum;
}

double min_by_trying(std::span<const Factor> factors, size_t variables) {
  double min = std::numeric_limits<double>::infinity();
  for (size_t bits = 0; bits < size_t{1} << variables; ++bits) {
    std::vector<bool> assignment;
    for (size_t i = 0; i < variables; ++i) assignment.push_back((bits >> i & 1) != 0);
    min = std::min(min, sum_of(factors, assignment));
  }
  return min;
}

TEST(MinSum, IsThatOfAllAssignments) {
  Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    const size_t variables = 1 + rng.below(9);
    std::vector<Factor> factors;
    for (size_t f = 0; f < 1 + rng.below(12); ++f) {
      Factor& factor = factors.emplace_back();
      for (size_t v = 0; v < variables; ++v)
        if (rng.below(3) == 0) factor.variables.push_back(v);
      for (size_t i = 0; i < size_t{1} << factor.variables.size(); ++i)
        factor.values.push_back(rng.below(20) == 0 ? std::numeric_limits<double>::infinity() : rng.uniform());
    }
    const double min = min_by_trying(factors, variables);
    const auto found = min_sum(factors, variables);
    ASSERT_EQ(found.has_value(), min < std::numeric_limits<double>::infinity()) << "trial " << trial;
    if (!found) continue;
    EXPECT_NEAR(sum_of(factors, *found), min, 1e-12) << "trial " << trial;
  }
}

TEST(MinSum, OfALongChainTakesSmallTables) {
  constexpr size_t kLength = 2000;
  std::vector<Factor> factors;
  for (size_t i = 0; i + 1 < kLength; ++i) factors.push_back({{i, i + 1}, {1, 0, 0, 1}});
  const auto found = min_sum(factors, kLength, 2);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(sum_of(factors, *found), 0) << "neighbors differ";
}

TEST(MinSum, GivesUpOnLargeTables) {
  Factor all{{0, 1, 2, 3}, std::vector<double>(16, 1)};
  EXPECT_FALSE(min_sum({&all, 1}, 4, 3).has_value());
  EXPECT_TRUE(min_sum({&all, 1}, 4, 4).has_value());
}

}  // namespace
}  // namespace isomer
