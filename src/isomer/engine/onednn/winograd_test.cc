#include "isomer/engine/onednn/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/winograd_testing.h"

namespace isomer::onednn {
namespace {

OwnPost bounds(float low, float high, float slope = 0) {
  return {.kind = OwnPost::Kind::Bounds, .low = low, .high = high, .slope = slope};
}

/// A convolution with arguments in row-major order.
struct Problem {
  WinogradConv conv;
  Floats image, weights, bias, added;

  Problem(const WinogradConv& of, uint64_t seed) : conv(of) {
    Rng rng(seed);
    image = random_floats(rng, conv.images * conv.channels * conv.height * conv.width);
    weights = random_floats(rng, given_weights(conv));
    bias = random_floats(rng, conv.out_channels);
    added = random_floats(rng, results());
  }
  int64_t results() const { return conv.images * conv.out_channels * conv.out_height * conv.out_width; }

  /// Returns the place of an element of the window between a channel of the image and one of the result.
  int64_t weight(int64_t to, int64_t from, int64_t element) const {
    return conv.transposed ? (from * conv.out_channels + to) * 9 + 8 - element
                           : (to * conv.channels + from) * 9 + element;
  }

  Floats blocked_image() const { return blocked(image, conv.images, conv.channels, conv.height * conv.width); }
  Floats blocked_result(const Floats& plain) const {
    return blocked(plain, conv.images, conv.out_channels, conv.out_height * conv.out_width);
  }
  Floats transformed() const {
    Floats out(static_cast<size_t>(winograd_weights(conv)));
    transform_weights(conv, weights.data(), out.data());
    return out;
  }

  /// Returns the result without posts by the definition, in row-major order; with `magnitudes`, the sums of the
  /// magnitudes of all terms.
  std::vector<double> direct(bool magnitudes) const {
    std::vector<double> out;
    const auto at = [&](int64_t n, int64_t c, int64_t y, int64_t x) -> double {
      if (y < 0 || y >= conv.height || x < 0 || x >= conv.width) return 0;
      return image[static_cast<size_t>(((n * conv.channels + c) * conv.height + y) * conv.width + x)];
    };
    for (int64_t i = 0; i < results(); ++i) {
      const int64_t x = i % conv.out_width - conv.left, y = i / conv.out_width % conv.out_height - conv.top;
      const int64_t k = i / (conv.out_width * conv.out_height) % conv.out_channels;
      const int64_t n = i / (conv.out_width * conv.out_height * conv.out_channels);
      double sum = magnitudes ? std::abs(bias[static_cast<size_t>(k)]) : bias[static_cast<size_t>(k)];
      for (int64_t c = 0; c < conv.channels; ++c)
        for (int64_t w = 0; w < 9; ++w) {
          const double term = at(n, c, y + w / 3, x + w % 3) * weights[static_cast<size_t>(weight(k, c, w))];
          sum += magnitudes ? std::abs(term) : term;
        }
      out.push_back(sum);
    }
    return out;
  }

  /// Returns the result in blocks. With `in_place`, added values are where the result will be.
  Floats run(const std::vector<OwnPost>& posts, int parts, bool in_place = false) const {
    const Floats from = blocked_image(), ready = transformed(), addend = blocked_result(added);
    Floats result = in_place ? addend : Floats(addend.size(), NAN);
    Floats scratch(static_cast<size_t>(winograd_scratch(conv, parts)), NAN);
    OwnPosts all;
    for (size_t i = 0; i < posts.size(); ++i) {
      all.add(posts[i]);
      all.locate(i, in_place ? result.data() : addend.data());
    }
    run_winograd(conv,
                 {.image = from.data(),
                  .weights = ready.data(),
                  .bias = bias.data(),
                  .result = result.data(),
                  .scratch = scratch.data()},
                 all, parts);
    return result;
  }
};

TEST(Winograd, ComputesConvolutionsWithinTheBound) {
  double max = 0;
  for (const WinogradConv& conv : convolutions()) {
    const Problem problem(conv, 1);
    const auto exact = problem.direct(false);
    const auto sums = problem.direct(true);
    const Floats wanted = problem.blocked_result(Floats(exact.begin(), exact.end()));
    // The error of an element also depends on its neighbors in the tile.
    const double bound = 0x1p-20 * *std::ranges::max_element(sums);
    const Floats got = problem.run({}, 1);
    for (size_t i = 0; i < got.size(); ++i) {
      const double off = std::abs(double{got[i]} - wanted[i]);
      ASSERT_LE(off, bound) << conv.images << "x" << conv.channels << "x" << conv.height << "x" << conv.width << " at "
                            << i;
      max = std::max(max, off / bound);
    }
  }
  EXPECT_GT(max, 0.05) << "the bound is loose";
}

TEST(Winograd, PartsChangeNoBit) {
  for (const WinogradConv& conv : convolutions()) {
    const Problem problem(conv, 2);
    const Floats one = problem.run({}, 1);
    for (const int parts : {2, 3, 7}) {
      const ThreadScope scope(2);
      EXPECT_EQ(problem.run({}, parts), one) << parts << " parts";
    }
  }
}

TEST(Winograd, AppliesPostsInTheirOrder) {
  const int64_t b = native_block();
  const Problem problem({2, b, 9, 10, 3 * b, 9, 10, 1, 1}, 3);
  const Floats plain = problem.run({}, 1), added = problem.blocked_result(problem.added);
  const OwnPost sum, relu = bounds(0, kInfinity), clip = bounds(-0.5F, 0.25F), leaky = bounds(0, kInfinity, 0.125F);
  const auto applied = [](const OwnPost& post, float x, float other) {
    if (post.kind == OwnPost::Kind::Sum) return x + other;
    if (x < post.low) return post.slope == 0 ? post.low : post.slope * x;
    return std::min(x, post.high);
  };
  const std::vector<std::vector<OwnPost>> all = {{sum}, {relu}, {clip}, {leaky}, {sum, relu}, {leaky, sum, clip}};
  for (const auto& posts : all) {
    Floats wanted = plain;
    for (size_t i = 0; i < wanted.size(); ++i)
      for (const OwnPost& post : posts) wanted[i] = applied(post, wanted[i], added[i]);
    for (const bool in_place : {false, true}) EXPECT_EQ(problem.run(posts, 2, in_place), wanted);
  }
}

TEST(Winograd, BoundsHoldForInfinities) {
  const int64_t b = native_block();
  Problem problem({1, b, 4, 4, b, 4, 4, 1, 1}, 4);
  problem.bias[0] = -kInfinity;
  problem.bias[1] = kInfinity;
  problem.bias[2] = NAN;
  const Floats got = problem.run({bounds(0, 6)}, 1);
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[1], 6);
  EXPECT_TRUE(std::isnan(got[2]));
}

}  // namespace
}  // namespace isomer::onednn
