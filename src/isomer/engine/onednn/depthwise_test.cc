#include "isomer/engine/onednn/depthwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/own_kernel_testing.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

/// A convolution with arguments in the kernel's layout, except that weights are row-major.
struct DepthwiseProblem {
  DepthwiseConv conv;
  Floats image, weights, bias, added;

  DepthwiseProblem(const DepthwiseConv& of, uint64_t seed) : conv(of) {
    Rng rng(seed);
    image = random_floats(rng, conv.images * conv.channels * conv.height * conv.width);
    weights = random_floats(rng, depthwise_weights(conv));
    bias = random_floats(rng, conv.channels);
    added = random_floats(rng, conv.images * conv.channels * conv.out_height * conv.out_width);
  }

  /// Returns the index of an element of the image or of the result.
  size_t at(int64_t n, int64_t c, int64_t y, int64_t x, int64_t height, int64_t width) const {
    const int64_t plane = conv.blocked ? native_block() : conv.channels;
    return static_cast<size_t>((((n * (conv.channels / plane) + c / plane) * height + y) * width + x) * plane +
                               c % plane);
  }

  int64_t weight(int64_t c, int64_t i) const {
    const int64_t elements = conv.window * conv.window;
    return c * elements + (conv.transposed ? elements - 1 - i : i);
  }

  /// Returns the result without posts by the definition; with `magnitudes`, the sums of the magnitudes of all terms.
  std::vector<double> direct(bool magnitudes) const {
    std::vector<double> out(added.size());
    for (int64_t n = 0; n < conv.images; ++n)
      for (int64_t c = 0; c < conv.channels; ++c)
        for (int64_t y = 0; y < conv.out_height; ++y)
          for (int64_t x = 0; x < conv.out_width; ++x) {
            double sum = bias[static_cast<size_t>(c)];
            if (magnitudes) sum = std::abs(sum);
            for (int64_t i = 0; i < conv.window * conv.window; ++i) {
              const int64_t from_y = y * conv.stride - conv.top + i / conv.window;
              const int64_t from_x = x * conv.stride - conv.left + i % conv.window;
              if (from_y < 0 || from_y >= conv.height || from_x < 0 || from_x >= conv.width) continue;
              const double term = double{image[at(n, c, from_y, from_x, conv.height, conv.width)]} *
                                  weights[static_cast<size_t>(weight(c, i))];
              sum += magnitudes ? std::abs(term) : term;
            }
            out[at(n, c, y, x, conv.out_height, conv.out_width)] = sum;
          }
    return out;
  }

  /// With `in_place`, added values are where the result will be.
  Floats run(const std::vector<OwnPost>& posts = {}, bool in_place = false) const {
    Floats packed(weights.size());
    pack_depthwise_weights(conv, weights.data(), packed.data());
    Floats result = in_place ? added : Floats(added.size(), NAN);
    OwnPosts all;
    for (size_t i = 0; i < posts.size(); ++i) {
      all.add(posts[i]);
      all.locate(i, in_place ? result.data() : added.data());
    }
    run_depthwise(conv, {image.data(), packed.data(), bias.data(), result.data()}, all);
    return result;
  }
};

/// All windows, strides and layouts; images smaller than a window, rows of one tile and of several, every padding.
std::vector<DepthwiseConv> convolutions() {
  std::vector<DepthwiseConv> out;
  Rng rng(7);
  for (const int64_t window : {3, 5, 7})
    for (const int64_t stride : {1, 2})
      for (const bool blocked : {false, true})
        for (int i = 0; i < 8; ++i) {
          const int64_t channels =
              blocked ? native_block() * up_to(rng, 3) : min_depthwise_channels() + rng.between(0, 40);
          DepthwiseConv conv{up_to(rng, 2), channels, up_to(rng, 12), up_to(rng, 40)};
          conv.window = window;
          conv.stride = stride;
          conv.blocked = blocked;
          conv.transposed = stride == 1 && i % 3 == 0;
          conv.top = rng.between(conv.transposed ? -1 : 0, window);
          conv.left = rng.between(conv.transposed ? -1 : 0, window);
          conv.out_height = (conv.height + conv.top + rng.between(0, window)) / stride + 1;
          conv.out_width = i == 0 ? 14 : (conv.width + conv.left + rng.between(0, window)) / stride + 1;
          out.push_back(conv);
        }
  return out;
}

TEST(Depthwise, ComputesConvolutionsWithinTheBound) {
  for (const DepthwiseConv& conv : convolutions()) {
    const DepthwiseProblem problem(conv, 1);
    const auto wanted = problem.direct(false), sums = problem.direct(true);
    const Floats got = problem.run();
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_LE(std::abs(double{got[i]} - wanted[i]), 0x1p-21 * sums[i])
          << conv.images << "x" << conv.channels << "x" << conv.height << "x" << conv.width << ", window "
          << conv.window << ", stride " << conv.stride << ", blocked " << conv.blocked << ", at " << i;
  }
}

TEST(Depthwise, ThreadsChangeNoBit) {
  for (const DepthwiseConv& conv : convolutions()) {
    const DepthwiseProblem problem(conv, 2);
    const Floats one = problem.run();
    const ThreadScope scope(3);
    EXPECT_EQ(problem.run(), one);
  }
}

TEST(Depthwise, AppliesPostsInTheirOrder) {
  const OwnPost sum, relu{.kind = OwnPost::Kind::Bounds, .low = 0, .high = kInfinity};
  int in_place = 0;
  for (const DepthwiseConv& conv : convolutions()) {
    const DepthwiseProblem problem(conv, 3);
    const Floats plain = problem.run();
    Floats sum_first = plain, sum_last = plain;
    for (size_t i = 0; i < plain.size(); ++i) {
      sum_first[i] = std::max(plain[i] + problem.added[i], 0.0F);
      sum_last[i] = std::max(plain[i], 0.0F) + problem.added[i];
    }
    EXPECT_EQ(problem.run({sum, relu}), sum_first);
    EXPECT_EQ(problem.run({relu, sum}), sum_last);
    if (computes_twice(conv)) continue;
    ++in_place;
    EXPECT_EQ(problem.run({sum, relu}, true), sum_first);
  }
  EXPECT_GE(in_place, 6);
}

// Products with elements outside the image would be NaN.
TEST(Depthwise, InfiniteWeightsDoNotMeetPadding) {
  DepthwiseConv conv{1, 16, 4, 9, 4, 9, 1, 1, 3, 1, false};
  DepthwiseProblem problem(conv, 4);
  std::ranges::fill(problem.image, 1.0F);
  for (size_t i = 0; i < problem.weights.size(); i += 9) problem.weights[i] = kInfinity;
  const Floats got = problem.run();
  EXPECT_EQ(std::ranges::count_if(got, [](float x) { return std::isnan(x); }), 0);
  EXPECT_EQ(std::ranges::count(got, kInfinity), 16 * 3 * 8);
}

TEST(Depthwise, WithoutABias) {
  DepthwiseConv conv{1, 17, 5, 8, 5, 8, 1, 1, 3, 1, false};
  DepthwiseProblem problem(conv, 5);
  std::ranges::fill(problem.bias, 0.0F);
  const Floats zeros = problem.run();
  Floats packed(problem.weights.size()), got(zeros.size());
  pack_depthwise_weights(conv, problem.weights.data(), packed.data());
  run_depthwise(conv, {problem.image.data(), packed.data(), nullptr, got.data()}, {});
  EXPECT_EQ(got, zeros);
}

}  // namespace
}  // namespace isomer::onednn
