#include "isomer/engine/onednn/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

using Kind = Reduction::Kind;

double start_of(Kind kind) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  if (kind == Kind::Largest) return -kUnbounded;
  return kind == Kind::Smallest ? kUnbounded : 0;
}

double taken(Kind kind, double so_far, double x) {
  switch (kind) {
    case Kind::Sum:
      return so_far + x;
    case Kind::SumOfSquares:
      return so_far + x * x;
    case Kind::SumOfMagnitudes:
      return so_far + std::abs(x);
    case Kind::Largest:
      return std::max(so_far, x);
    case Kind::Smallest:
      return std::min(so_far, x);
  }
  return 0;
}

/// Returns number `at` of a reduction, in double precision.
double defined(const Reduction& reduction, const std::vector<float>& from, int64_t at) {
  const int64_t outer = at / reduction.inner, column = at % reduction.inner;
  double result = start_of(reduction.kind);
  for (int64_t i = 0; i < reduction.count; ++i)
    result = taken(reduction.kind, result,
                   from[static_cast<size_t>((outer * reduction.count + i) * reduction.inner + column)]);
  result *= reduction.factor;
  return reduction.root ? std::sqrt(result) : result;
}

std::vector<float> reduced(const Reduction& reduction, const std::vector<float>& from, int threads) {
  const ThreadScope scope(threads);
  std::vector<float> to(static_cast<size_t>(reduction.outer * reduction.inner) + 1, 7);
  reduce(reduction, from.data(), to.data());
  EXPECT_EQ(to.back(), 7) << "after the result";
  return to;
}

// Columns beyond one piece of work, rows beyond one part of a sum, and ends of vectors are among the extents.
TEST(Reduction, IsWithinRoundingOfTheDefinitionWithAnyThreads) {
  Rng rng(1);
  constexpr int64_t kInner[] = {1, 2, 15, 16, 17, 49, 64, 65, 200, 768, 1024, 1025, 2500};
  for (const int64_t inner : kInner)
    for (const Kind kind : {Kind::Sum, Kind::SumOfSquares, Kind::SumOfMagnitudes, Kind::Largest, Kind::Smallest})
      for (const int64_t count : {1, 3, 4, 130, 257}) {
        const Reduction reduction{.kind = kind, .outer = rng.between(1, 3), .count = count, .inner = inner};
        std::vector<float> from(static_cast<size_t>(reduction.outer * count * inner));
        for (float& x : from) x = static_cast<float>(2 * rng.uniform() - 1);
        const std::vector<float> one = reduced(reduction, from, 1);
        for (const int threads : {2, 3, 16}) ASSERT_EQ(reduced(reduction, from, threads), one) << inner << " " << count;
        for (int64_t i = 0; i < reduction.outer * inner; ++i)
          ASSERT_NEAR(one[static_cast<size_t>(i)], defined(reduction, from, i), 1e-5 * static_cast<double>(count))
              << "number " << i << " of " << inner << " columns, " << count << " rows";
      }
}

TEST(Reduction, ScalesAndTakesRootsAtTheEnd) {
  const std::vector<float> from = {1, 2, 3, 4, 5, 6};
  const Reduction reduction{
      .kind = Kind::SumOfSquares, .outer = 1, .count = 2, .inner = 3, .factor = 0.5F, .root = true};
  const std::vector<float> to = reduced(reduction, from, 1);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_FLOAT_EQ(to[static_cast<size_t>(i)], static_cast<float>(defined(reduction, from, i)));
}

TEST(Reduction, NaNStaysInItsColumn) {
  for (const Kind kind : {Kind::Sum, Kind::Largest, Kind::Smallest})
    for (const int64_t inner : {1, 3, 40, 100}) {
      const int64_t count = 300;
      std::vector<float> from(static_cast<size_t>(2 * count * inner), 1);
      from[static_cast<size_t>(140 * inner)] = std::numeric_limits<float>::quiet_NaN();
      const std::vector<float> to = reduced({.kind = kind, .outer = 2, .count = count, .inner = inner}, from, 1);
      EXPECT_TRUE(std::isnan(to[0]));
      for (int64_t i = 1; i < 2 * inner; ++i) EXPECT_FALSE(std::isnan(to[static_cast<size_t>(i)])) << i;
    }
}

}  // namespace
}  // namespace isomer::onednn
