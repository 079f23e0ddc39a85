#include "isomer/engine/onednn/matrix_product.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "isomer/engine/onednn/own_kernel_testing.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

/// A matrix with gaps of NaN between its rows, or columns.
struct Matrix {
  MatrixLayout layout;
  Floats elements;

  Matrix(Rng& rng, int64_t rows, int64_t columns) {
    layout.transposed = rng.below(2) == 0;
    const int64_t lines = layout.transposed ? columns : rows, line = layout.transposed ? rows : columns;
    layout.stride = line + static_cast<int64_t>(rng.below(3));
    elements.assign(static_cast<size_t>(lines * layout.stride), NAN);
    for (int64_t i = 0; i < lines; ++i)
      for (int64_t j = 0; j < line; ++j)
        elements[static_cast<size_t>(i * layout.stride + j)] = random_floats(rng, 1)[0];
  }
  float at(int64_t row, int64_t column) const {
    return elements[static_cast<size_t>(layout.transposed ? column * layout.stride + row
                                                          : row * layout.stride + column)];
  }
};

/// A product with its operands. If it has an even number of rows, there is no bias.
struct Factors {
  MatrixProduct product;
  Matrix a, b;
  Floats bias, added;

  Factors(Rng& rng, int64_t rows, int64_t inner, int64_t columns)
      : product{rows, inner, columns},
        a(rng, rows, inner),
        b(rng, inner, columns),
        bias(random_floats(rng, columns)),
        added(random_floats(rng, rows * columns)) {
    product.a = a.layout;
    product.b = b.layout;
  }

  /// With `in_place`, added values are where the result will be.
  Floats run(const std::vector<OwnPost>& posts = {}, int parts = 1, bool in_place = false) const {
    Floats scratch(static_cast<size_t>(matrix_product_scratch(product, parts)), NAN);
    Floats result = in_place ? added : Floats(added.size(), NAN);
    OwnPosts all;
    for (size_t i = 0; i < posts.size(); ++i) {
      all.add(posts[i]);
      all.locate(i, in_place ? result.data() : added.data());
    }
    run_matrix_product(
        product,
        {a.elements.data(), b.elements.data(), has_bias() ? bias.data() : nullptr, result.data(), scratch.data()}, all,
        parts);
    return result;
  }

  bool has_bias() const { return product.rows % 2 != 0; }

  std::string str() const {
    return fmt::format("{}x{}x{}, {} by {}", product.rows, product.inner, product.columns,
                       a.layout.transposed ? "transposed" : "row-major",
                       b.layout.transposed ? "transposed" : "row-major");
  }
};

/// Half of another value is added.
constexpr OwnPost kHalfMore{.scale = 0.5F};

/// Products of each pair of layouts: of one tile and less, of several tiles, and of several blocks of each extent; with
/// few rows, short sums, and neither.
std::vector<Factors> all_factors() {
  Rng rng(7);
  std::vector<Factors> out;
  for (const auto& [rows, inner, columns] : {std::array<int64_t, 3>{1, 1, 1},
                                             {12, 16, 32},
                                             {4, 3, 24},
                                             {13, 385, 33},
                                             {25, 800, 40},
                                             {40, 1, 7},
                                             {100, 385, 70},
                                             {2100, 5, 9},
                                             {1500, 70, 37}})
    for (int i = 0; i < 6; ++i) out.emplace_back(rng, rows, inner, columns);
  while (out.size() < 170) out.emplace_back(rng, up_to(rng, 90), up_to(rng, 110), up_to(rng, 140));
  return out;
}

TEST(MatrixProduct, IsWithinRoundingOfTheDefinition) {
  for (const Factors& factors : all_factors()) {
    const Floats got = factors.run();
    size_t at = 0;
    for (int64_t row = 0; row < factors.product.rows; ++row)
      for (int64_t column = 0; column < factors.product.columns; ++column, ++at) {
        double exact = factors.has_bias() ? factors.bias[static_cast<size_t>(column)] : 0, magnitude = std::abs(exact);
        for (int64_t k = 0; k < factors.product.inner; ++k) {
          const double term = double{factors.a.at(row, k)} * factors.b.at(k, column);
          exact += term;
          magnitude += std::abs(term);
        }
        const double bound = 0x1p-24 * static_cast<double>(factors.product.inner + 3) * magnitude;
        ASSERT_NEAR(got[at], exact, bound) << factors.str() << " at " << row << "," << column;
      }
  }
}

TEST(MatrixProduct, ThreadsAndPartsChangeNoBit) {
  for (const Factors& factors : all_factors()) {
    const Floats one = factors.run(), with_sum = factors.run({kHalfMore});
    for (const int threads : {1, 3}) {
      const ThreadScope scope(threads);
      for (const int parts : {2, 3, 4}) {
        EXPECT_EQ(factors.run({}, parts), one) << factors.str() << ", " << parts;
        EXPECT_EQ(factors.run({kHalfMore}, parts), with_sum) << factors.str() << ", " << parts;
      }
    }
  }
}

TEST(MatrixProduct, AppliesPostsToWholeSums) {
  const OwnPost linear{.kind = OwnPost::Kind::Linear, .slope = -2, .shift = 1},
      relu{.kind = OwnPost::Kind::Bounds, .high = kInfinity};
  for (const Factors& factors : all_factors()) {
    const Floats plain = factors.run(), got = factors.run({linear, kHalfMore, relu});
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], std::max(1 - 2 * plain[i] + 0.5F * factors.added[i], 0.0F)) << factors.str() << " at " << i;
  }
}

TEST(MatrixProduct, AddsInPlaceUnlessPartialSumsAreStored) {
  const OwnPost relu{.kind = OwnPost::Kind::Bounds, .high = kInfinity};
  size_t in_place = 0;
  for (const Factors& factors : all_factors())
    for (const int parts : {1, 3}) {
      if (!sums_at_once(factors.product, parts)) continue;
      ++in_place;
      EXPECT_EQ(factors.run({kHalfMore}, parts, true), factors.run({kHalfMore}, parts)) << factors.str();
      EXPECT_EQ(factors.run({kHalfMore, relu}, parts, true), factors.run({kHalfMore, relu}, parts)) << factors.str();
    }
  EXPECT_GT(in_place, 100U);
  EXPECT_FALSE(sums_at_once({.rows = 200, .inner = 900, .columns = 200}, 1));
}

TEST(MatrixProduct, AddsAnotherValueToWholeSums) {
  for (const Factors& factors : all_factors()) {
    const Floats plain = factors.run(), got = factors.run({kHalfMore});
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], plain[i] + 0.5F * factors.added[i]) << factors.str() << " at " << i;
  }
}

}  // namespace
}  // namespace isomer::onednn
