#include "isomer/engine/onednn/strassen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/own_kernel_testing.h"
#include "isomer/engine/onednn/row_kernel.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

/// A product with its operands.
struct StrassenOperands {
  StrassenProduct product;
  Floats a, weights, transposed, bias, added;

  StrassenOperands(const StrassenProduct& of, uint64_t seed) : product(of) {
    Rng rng(seed);
    a = random_floats(rng, product.rows * product.inner);
    weights = random_floats(rng, product.inner * product.columns);
    bias = random_floats(rng, product.columns);
    added = random_floats(rng, product.rows * product.columns);
  }
  /// Return the places of elements of the weights, of A, and of the result.
  size_t weight_at(int64_t k, int64_t column) const { return static_cast<size_t>(k * product.columns + column); }
  size_t a_at(int64_t row, int64_t k) const { return place(row, k, product.inner); }
  size_t at(int64_t row, int64_t column) const { return place(row, column, product.columns); }
  size_t place(int64_t row, int64_t column, int64_t columns) const {
    if (product.pixels == 0) return static_cast<size_t>(row * columns + column);
    const int64_t block = native_block(), image = row / product.pixels, pixel = row % product.pixels;
    return static_cast<size_t>(((image * (columns / block) + column / block) * product.pixels + pixel) * block +
                               column % block);
  }

  Floats run(const std::vector<OwnPost>& posts, bool of_transposed = false, bool biased = true, int threads = 1) const {
    Floats given = weights;
    if (of_transposed) {
      given.clear();
      for (int64_t n = 0; n < product.columns; ++n)
        for (int64_t k = 0; k < product.inner; ++k) given.push_back(weights[weight_at(k, n)]);
    }
    Floats packed(static_cast<size_t>(strassen_weights(product)), NAN);
    pack_strassen_weights(product, of_transposed, given.data(), packed.data());
    Floats result(added.size(), NAN), scratch(static_cast<size_t>(strassen_scratch(product, threads)), NAN);
    OwnPosts all;
    for (size_t i = 0; i < posts.size(); ++i) {
      all.add(posts[i]);
      all.locate(i, added.data());
    }
    run_strassen(product, {a.data(), packed.data(), biased ? bias.data() : nullptr, result.data(), scratch.data()}, all,
                 threads);
    return result;
  }

  double exact(int64_t row, int64_t column) const {
    double sum = bias[static_cast<size_t>(column)];
    for (int64_t k = 0; k < product.inner; ++k) sum += double{a[a_at(row, k)]} * weights[weight_at(k, column)];
    return sum;
  }

  /// A bound of the error of an element: the largest terms of its row (of all rows if they are pixels), and those of
  /// its column, count as all terms.
  double bound(int64_t row, int64_t column) const {
    double of_row = 0, of_column = 0;
    for (int64_t k = 0; k < product.inner; ++k) {
      of_row = std::max(of_row, product.pixels == 0 ? std::abs(double{a[a_at(row, k)]}) : 1);
      of_column = std::max(of_column, std::abs(double{weights[weight_at(k, column)]}));
    }
    return 0x1p-22 *
           (static_cast<double>(product.inner) * of_row * of_column + std::abs(bias[static_cast<size_t>(column)]));
  }
};

/// One row, odd numbers of rows, several parts of rows and of the inner extent, one panel of columns or several; also
/// of images, of which several may be in a part, or a part of one.
std::vector<StrassenProduct> strassen_products() {
  const int64_t pair = 2 * panel_columns();
  std::vector<StrassenProduct> out = {{1, 2, pair},   {2, 2, pair},    {3, 34, 2 * pair},
                                      {401, 6, pair}, {7, 3074, pair}, {203, 1538, pair}};
  Rng rng(5);
  while (out.size() < 30) out.push_back({up_to(rng, 90), 2 * up_to(rng, 40), pair * up_to(rng, 3)});
  const int64_t blocks = int64_t{2} * native_block();
  out.push_back({402, 50 * blocks, pair, 201});
  out.push_back({30, 2 * blocks, 12 * pair, 30});
  while (out.size() < 60) {
    const int64_t pixels = up_to(rng, 90);
    out.push_back({pixels * up_to(rng, 5), blocks * up_to(rng, 4), pair * up_to(rng, 3), pixels});
  }
  return out;
}

TEST(Strassen, IsWithinTheBound) {
  for (const StrassenProduct& product : strassen_products()) {
    ASSERT_TRUE(has_strassen(product));
    const StrassenOperands operands(product, 1);
    const Floats got = operands.run({});
    EXPECT_EQ(operands.run({}, true), got) << "transposed weights";
    for (int64_t row = 0; row < product.rows; ++row)
      for (int64_t column = 0; column < product.columns; column += 5)
        ASSERT_NEAR(got[operands.at(row, column)], operands.exact(row, column), operands.bound(row, column))
            << product.rows << "x" << product.inner << "x" << product.columns << " at " << row << "," << column;
  }
}

// A row of large elements adds no error to others, nor does a column of large weights.
TEST(Strassen, ScalesRowsAndColumns) {
  StrassenOperands operands({64, 96, 2 * panel_columns()}, 2);
  const StrassenProduct& product = operands.product;
  for (int64_t row = 0; row < product.rows; ++row)
    for (int64_t k = 0; k < product.inner; ++k)
      operands.a[static_cast<size_t>(row * product.inner + k)] *= std::ldexp(1.0F, static_cast<int>(row * 5 % 64 - 32));
  for (int64_t column = 0; column < product.columns; ++column) {
    for (int64_t k = 0; k < product.inner; ++k)
      operands.weights[operands.weight_at(k, column)] *= std::ldexp(1.0F, static_cast<int>(column * 7 % 48 - 24));
    operands.bias[static_cast<size_t>(column)] = 0;
  }
  const Floats got = operands.run({});
  for (int64_t row = 0; row < product.rows; ++row)
    for (int64_t column = 0; column < product.columns; ++column)
      ASSERT_NEAR(got[operands.at(row, column)], operands.exact(row, column), operands.bound(row, column));
}

TEST(Strassen, ThreadsChangeNoBit) {
  for (const StrassenProduct& product : strassen_products()) {
    const StrassenOperands operands(product, 3);
    const Floats one = operands.run({});
    const ThreadScope scope(3);
    for (const int threads : {1, 2, 7}) EXPECT_EQ(operands.run({}, false, true, threads), one) << threads;
  }
}

TEST(Strassen, AppliesPostsInTheirOrder) {
  const OwnPost sum, relu{.kind = OwnPost::Kind::Bounds, .low = 0, .high = kInfinity};
  for (const StrassenProduct& product : strassen_products()) {
    const StrassenOperands operands(product, 4);
    const Floats plain = operands.run({});
    Floats sum_first = plain, sum_last = plain;
    for (size_t i = 0; i < plain.size(); ++i) {
      sum_first[i] = std::max(plain[i] + operands.added[i], 0.0F);
      sum_last[i] = std::max(plain[i], 0.0F) + operands.added[i];
    }
    EXPECT_EQ(operands.run({sum, relu}), sum_first);
    EXPECT_EQ(operands.run({relu, sum}), sum_last);
  }
}

TEST(Strassen, WithoutABias) {
  StrassenOperands operands({9, 10, 2 * panel_columns()}, 5);
  std::ranges::fill(operands.bias, 0.0F);
  EXPECT_EQ(operands.run({}, false, false), operands.run({}));
}

TEST(Strassen, RowsOfZerosStayZeros) {
  StrassenOperands operands({8, 10, 2 * panel_columns()}, 6);
  std::ranges::fill(operands.a, 0.0F);
  const Floats got = operands.run({}, false, false);
  EXPECT_EQ(std::ranges::count(got, 0.0F), std::ssize(got));
}

// A row with an infinite element or a NaN, and an image with one, affect no others.
TEST(Strassen, RowsAndImagesDoNotAffectOthers) {
  const int64_t columns = 2 * panel_columns(), inner = int64_t{2} * native_block();
  for (const StrassenProduct& product : {StrassenProduct{9, inner, columns}, StrassenProduct{10, inner, columns, 5}})
    for (const float bad : {kInfinity, -kInfinity, NAN})
      for (const int64_t k : {int64_t{0}, inner - 1}) {
        StrassenOperands operands(product, 7);
        const Floats good = operands.run({});
        const int64_t row = 6;
        operands.a[operands.a_at(row, k)] = bad;
        const Floats got = operands.run({});
        for (int64_t r = 0; r < product.rows; ++r) {
          const bool affected = product.pixels == 0 ? r == row : r / product.pixels == row / product.pixels;
          for (int64_t column = 0; column < columns; ++column) {
            const size_t at = operands.at(r, column);
            EXPECT_TRUE(r != row || !std::isfinite(got[at]));
            EXPECT_TRUE(affected || std::abs(got[at] - good[at]) <= operands.bound(r, column));
          }
        }
      }
}

TEST(Strassen, ColumnsThatAreNotFiniteDoNotAffectOthers) {
  for (const float bad : {kInfinity, NAN}) {
    StrassenOperands operands({9, 16, 2 * panel_columns()}, 8);
    const Floats good = operands.run({});
    operands.weights[operands.weight_at(3, 5)] = bad;
    const Floats got = operands.run({});
    for (int64_t row = 0; row < operands.product.rows; ++row)
      for (int64_t column = 0; column < operands.product.columns; ++column) {
        const size_t at = operands.at(row, column);
        EXPECT_TRUE(column == 5 ? std::isnan(got[at]) : std::abs(got[at] - good[at]) <= operands.bound(row, column));
      }
  }
}

TEST(Strassen, NotOfOddExtents) {
  const int64_t pair = 2 * panel_columns();
  EXPECT_FALSE(has_strassen({8, 9, pair}));
  EXPECT_FALSE(has_strassen({8, 8, pair + panel_columns()}));
  EXPECT_FALSE(has_strassen({8, 8, pair - 1}));
  EXPECT_FALSE(has_strassen({0, 8, pair}));
  EXPECT_FALSE(has_strassen({8, native_block(), pair, 8}));
  EXPECT_FALSE(is_worth_strassen({31, 512, pair}));
}

}  // namespace
}  // namespace isomer::onednn
