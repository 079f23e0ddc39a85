#include "isomer/engine/onednn/row_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "isomer/engine/onednn/own_kernel_testing.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

/// A product with its operands.
struct Operands {
  RowProduct product;
  Floats a, weights, transposed, bias, added;

  Operands(const RowProduct& of, uint64_t seed) : product(of) {
    Rng rng(seed);
    a = random_floats(rng, product.rows * product.inner);
    weights = random_floats(rng, product.inner * product.columns);
    bias = random_floats(rng, product.columns);
    added = random_floats(rng, product.rows * product.columns);
    for (int64_t n = 0; n < product.columns; ++n)
      for (int64_t k = 0; k < product.inner; ++k) transposed.push_back(weights[at(k, n)]);
  }
  size_t at(int64_t row, int64_t column) const { return static_cast<size_t>(row * product.columns + column); }

  Floats run(const std::vector<OwnPost>& posts, bool of_transposed = false, bool in_place = false) const {
    Floats packed(static_cast<size_t>(packed_weights(product)), NAN);
    pack_weights(product, of_transposed, of_transposed ? transposed.data() : weights.data(), packed.data());
    Floats result = in_place ? added : Floats(added.size(), NAN);
    OwnPosts all;
    for (size_t i = 0; i < posts.size(); ++i) {
      all.add(posts[i]);
      all.locate(i, in_place ? result.data() : added.data());
    }
    run_row_product(product, {a.data(), packed.data(), bias.data(), result.data()}, all);
    return result;
  }
};

std::vector<RowProduct> row_products() {
  std::vector<RowProduct> out = {{1, 1, 1}, {1, 512, 512}, {8, 300, 63}, {3, 1, 64}, {6, 17, 65}, {7, 33, 200}};
  Rng rng(5);
  while (out.size() < 60) out.push_back({up_to(rng, kMaxRows), up_to(rng, 90), up_to(rng, 270)});
  return out;
}

TEST(RowProduct, IsWithinRoundingOfTheDefinition) {
  for (const RowProduct& product : row_products()) {
    const Operands operands(product, 1);
    const Floats got = operands.run({});
    EXPECT_EQ(operands.run({}, true), got) << "transposed weights";
    for (int64_t row = 0; row < product.rows; ++row)
      for (int64_t column = 0; column < product.columns; ++column) {
        double exact = operands.bias[static_cast<size_t>(column)], magnitude = std::abs(exact);
        for (int64_t k = 0; k < product.inner; ++k) {
          const double term = double{operands.a[static_cast<size_t>(row * product.inner + k)]} *
                              operands.weights[operands.at(k, column)];
          exact += term;
          magnitude += std::abs(term);
        }
        const double bound = 0x1p-24 * static_cast<double>(product.inner + 2) * magnitude;
        ASSERT_NEAR(got[operands.at(row, column)], exact, bound)
            << product.rows << "x" << product.inner << "x" << product.columns << " at " << row << "," << column;
      }
  }
}

TEST(RowProduct, ThreadsChangeNoBit) {
  for (const RowProduct& product : row_products()) {
    const Operands operands(product, 2);
    const Floats one = operands.run({});
    const ThreadScope scope(3);
    EXPECT_EQ(operands.run({}), one);
  }
}

TEST(RowProduct, AppliesPostsInTheirOrder) {
  using Kind = OwnPost::Kind;
  const OwnPost sum, relu{.kind = Kind::Bounds, .high = INFINITY}, tanh{.kind = Kind::Tanh};
  const OwnPost sigmoid{.kind = Kind::Sigmoid, .slope = 1}, swish{.kind = Kind::Swish, .slope = 0.5F};
  const OwnPost linear{.kind = Kind::Linear, .slope = -0.5F, .shift = 0.25F}, momentum{.scale = 0.9F};
  const auto applied = [](const OwnPost& post, double x, double other) {
    switch (post.kind) {
      case Kind::Sum:
        return x + post.scale * other;
      case Kind::Bounds:
        return std::clamp(x, double{post.low}, double{post.high});
      case Kind::Sigmoid:
        return 1 / (1 + std::exp(-x * post.slope));
      case Kind::Swish:
        return x / (1 + std::exp(-x * post.slope));
      case Kind::Tanh:
        return std::tanh(x);
      case Kind::Linear:
        return post.slope * x + post.shift;
      case Kind::Gelu:
        return 0.5 * x * (std::erf(x / std::sqrt(2.0)) + 1);
      case Kind::TanhGelu:
        return 0.5 * x * (std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)) + 1);
    }
    return x;
  };
  const Operands operands({3, 40, 139}, 3);
  const Floats plain = operands.run({});
  const std::vector<std::vector<OwnPost>> all = {{sum},
                                                 {relu},
                                                 {tanh, sum, sigmoid},
                                                 {swish, sum, sum, relu, tanh},
                                                 {linear, momentum},
                                                 {{.kind = Kind::Gelu}},
                                                 {sum, {.kind = Kind::TanhGelu}}};
  for (const auto& posts : all) {
    for (const bool in_place : {false, true}) {
      const Floats got = operands.run(posts, false, in_place);
      for (size_t i = 0; i < got.size(); ++i) {
        double wanted = plain[i];
        for (const OwnPost& post : posts) wanted = applied(post, wanted, operands.added[i]);
        ASSERT_NEAR(got[i], wanted, 2e-6) << "at " << i;
      }
    }
  }
}

TEST(OwnPosts, SwishOfLargeNegativeNumbersIsZero) {
  for (const float large : {-100.0F, -1e30F, -kInfinity}) {
    Vector4 y = Vector4{} + large;
    apply({.kind = OwnPost::Kind::Swish, .slope = 1}, 0, y);
    EXPECT_EQ(y[0], 0) << large;
  }
}

TEST(OwnPosts, AreAtMostAFew) {
  OwnPosts posts;
  for (size_t i = 0; i < OwnPosts::kMax; ++i) EXPECT_TRUE(posts.add({}));
  EXPECT_FALSE(posts.add({}));
  EXPECT_EQ(posts.end() - posts.begin(), static_cast<ptrdiff_t>(OwnPosts::kMax));
}

}  // namespace
}  // namespace isomer::onednn
