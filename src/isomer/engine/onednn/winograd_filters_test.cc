#include "isomer/engine/onednn/winograd_filters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/winograd_testing.h"

namespace isomer::onednn {
namespace {

/// The gradient for the filters of a convolution, from arguments in row-major order.
struct FilterSums {
  WinogradConv conv;
  Floats image, gradient;

  FilterSums(const WinogradConv& of, uint64_t seed) : conv(of) {
    Rng rng(seed);
    image = random_floats(rng, conv.images * conv.channels * conv.height * conv.width);
    gradient = random_floats(rng, conv.images * conv.out_channels * conv.out_height * conv.out_width);
  }

  /// Returns the filters by the definition; with `magnitudes`, the sums of the magnitudes of all terms.
  std::vector<double> direct(bool magnitudes) const {
    std::vector<double> out;
    for (int64_t k = 0; k < conv.out_channels; ++k)
      for (int64_t c = 0; c < conv.channels; ++c)
        for (int64_t w = 0; w < 9; ++w) out.push_back(element(k, c, w / 3 - conv.top, w % 3 - conv.left, magnitudes));
    return out;
  }
  double element(int64_t k, int64_t c, int64_t down, int64_t right, bool magnitudes) const {
    double sum = 0;
    for (int64_t n = 0; n < conv.images; ++n)
      for (int64_t y = std::max<int64_t>(-down, 0); y < std::min(conv.out_height, conv.height - down); ++y)
        for (int64_t x = std::max<int64_t>(-right, 0); x < std::min(conv.out_width, conv.width - right); ++x) {
          const int64_t in = ((n * conv.channels + c) * conv.height + y + down) * conv.width + x + right;
          const int64_t out = ((n * conv.out_channels + k) * conv.out_height + y) * conv.out_width + x;
          const double term = double{image[static_cast<size_t>(in)]} * gradient[static_cast<size_t>(out)];
          sum += magnitudes ? std::abs(term) : term;
        }
    return sum;
  }

  Floats run(int parts) const {
    const Floats from = blocked(image, conv.images, conv.channels, conv.height * conv.width);
    const Floats of = blocked(gradient, conv.images, conv.out_channels, conv.out_height * conv.out_width);
    Floats filters(static_cast<size_t>(given_weights(conv)), NAN);
    Floats scratch(static_cast<size_t>(winograd_filters_scratch(conv, parts)), NAN);
    run_winograd_filters(
        conv, {.image = from.data(), .gradient = of.data(), .filters = filters.data(), .scratch = scratch.data()},
        parts);
    return filters;
  }
};

// The error of an element depends on all sums of its filter, and on terms of other elements that cancel.
TEST(WinogradFilters, AreWithinTheBound) {
  double max = 0;
  const int64_t b = native_block();
  std::vector<WinogradConv> all = convolutions();
  all.push_back({1, b, 5, 68, b, 3, 68, 0, 1});          // fewer tiles than parts
  all.push_back({3, b, 41, 40, 2 * b, 40, 39, 1, 0});    // several batches in each part
  all.push_back({12, b, 14, 13, 40 * b, 14, 13, 1, 1});  // several batches, divided by channels
  all.push_back({1, b, 12, 12, b, 8, 8, -1, -1});        // a margin of the image is not read
  for (const WinogradConv& conv : all) {
    const FilterSums problem(conv, 1);
    const auto exact = problem.direct(false);
    const auto sums = problem.direct(true);
    const double bound = 0x1p-19 * *std::ranges::max_element(sums);
    for (const int parts : {1, 2, 3, 7, 50}) {
      const ThreadScope scope(2);
      const Floats got = problem.run(parts);
      for (size_t i = 0; i < got.size(); ++i) {
        const double off = std::abs(double{got[i]} - exact[i]);
        ASSERT_LE(off, bound) << conv.images << "x" << conv.channels << "x" << conv.height << "x" << conv.width
                              << " to " << conv.out_channels << " at " << i << ", " << parts << " parts";
        max = std::max(max, bound == 0 ? 0 : off / bound);
      }
    }
  }
  EXPECT_GT(max, 0.05) << "the bound is loose";
}

}  // namespace
}  // namespace isomer::onednn
