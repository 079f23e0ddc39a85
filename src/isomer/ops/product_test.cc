#include "isomer/ops/product.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

template <class T>
std::vector<T> random_elements(int64_t count, Rng& rng) {
  std::vector<T> out(static_cast<size_t>(count));
  for (T& element : out) element = static_cast<T>(rng.normal() * std::exp(10 * rng.normal()));
  return out;
}

/// The oracle: three plain loops.
template <class T>
std::vector<double> plain_product(const ProductExtents& extents, const MatrixView<T>& a, const MatrixView<T>& b) {
  std::vector<double> out;
  for (int64_t i = 0; i < extents.rows; ++i) {
    for (int64_t j = 0; j < extents.columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < extents.inner; ++k) {
        const double term = static_cast<double>(a.data[i * a.row + k * a.column]) * b.data[k * b.row + j * b.column];
        sum += term;
      }
      out.push_back(sum);
    }
  }
  return out;
}

template <class T>
Status blocked(const ProductExtents& extents, const MatrixView<T>& a, const MatrixView<T>& b,
               std::vector<double>& out) {
  out.assign(static_cast<size_t>(extents.rows * extents.columns), std::numeric_limits<double>::quiet_NaN());
  KernelProgress progress(extents.work());
  return blocked_product<T>(extents, a, b, progress, [&](int64_t row, int64_t column, std::span<const double> sums) {
    std::ranges::copy(sums, out.begin() + row * extents.columns + column);
  });
}

template <class T>
void expect_same_bits(const ProductExtents& extents, uint64_t seed) {
  Rng rng(seed);
  const auto left = random_elements<T>(extents.rows * extents.inner, rng);
  const auto right = random_elements<T>(extents.inner * extents.columns, rng);
  for (const bool flip : {false, true}) {
    const MatrixView<T> a{left.data(), flip ? 1 : extents.inner, flip ? extents.rows : 1};
    const MatrixView<T> b{right.data(), flip ? 1 : extents.columns, flip ? extents.inner : 1};
    const auto expected = plain_product(extents, a, b);
    std::vector<double> got;
    ASSERT_TRUE(blocked(extents, a, b, got).has_value());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(std::bit_cast<uint64_t>(got[i]), std::bit_cast<uint64_t>(expected[i])) << i;
  }
}

TEST(BlockedProduct, IsThePlainProductBitForBit) {
  uint64_t seed = 1;
  for (const ProductExtents& extents : {ProductExtents{1, 1, 1}, ProductExtents{8, 8, 8}, ProductExtents{5, 300, 9},
                                        ProductExtents{67, 257, 261}, ProductExtents{1030, 12, 17}}) {
    expect_same_bits<float>(extents, ++seed);
    expect_same_bits<double>(extents, ++seed);
  }
}

TEST(BlockedProduct, AProductOfNothingIsZero) {
  std::vector<double> got;
  const MatrixView<float> none{nullptr, 1, 1};
  ASSERT_TRUE(blocked({2, 0, 3}, none, none, got).has_value());
  EXPECT_EQ(got, std::vector<double>(6, 0));
}

TEST(BlockedProduct, GivesUpWhereThereIsNoTime) {
  Rng rng(1);
  const auto elements = random_elements<float>(int64_t{600} * 600, rng);
  const MatrixView<float> matrix{elements.data(), 600, 1};
  std::vector<double> got;
  {
    const KernelDeadline none(Deadline::after(0));
    const auto status = blocked({600, 600, 600}, matrix, matrix, got);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().message, "there is no time left to compute it");
    const KernelDeadline enough(Deadline::after(1e6));
    EXPECT_TRUE(blocked({600, 600, 600}, matrix, matrix, got).has_value()) << "the innermost counts";
  }
  EXPECT_TRUE(blocked({600, 600, 600}, matrix, matrix, got).has_value());
}

}  // namespace
}  // namespace isomer
