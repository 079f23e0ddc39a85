#include "isomer/engine/onednn/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

struct LogSums {
  std::vector<float> largest, logs;
  bool operator==(const LogSums&) const = default;
};

LogSums log_sums_of(const Scores& scores, const std::vector<float>& from, int threads) {
  const ThreadScope scope(threads);
  const auto count = static_cast<size_t>(scores.batch * scores.pixels);
  LogSums out{std::vector<float>(count + 1, 7), std::vector<float>(count + 1, 7)};
  log_sums(scores, from.data(), out.largest.data(), out.logs.data());
  EXPECT_EQ(out.largest.back(), 7) << "after the result";
  EXPECT_EQ(out.logs.back(), 7) << "after the result";
  return out;
}

double score(const Scores& scores, const std::vector<float>& from, int64_t at, int64_t c) {
  return from[static_cast<size_t>((at / scores.pixels * scores.classes + c) * scores.pixels + at % scores.pixels)];
}

// Ends of vectors and of what is computed at once are among the extents.
TEST(LogSums, IsWithinRoundingOfTheDefinitionWithAnyThreads) {
  Rng rng(1);
  for (const int64_t pixels : {1, 2, 15, 16, 17, 40})
    for (const int64_t classes : {1, 2, 15, 16, 17, 63, 64, 65, 130, 3000}) {
      const Scores scores{.batch = rng.between(1, 3), .classes = classes, .pixels = pixels};
      std::vector<float> from(static_cast<size_t>(scores.batch * classes * pixels));
      for (float& x : from) x = static_cast<float>(40 * rng.uniform() - 20);
      const LogSums one = log_sums_of(scores, from, 1);
      for (const int threads : {2, 3, 16})
        ASSERT_EQ(log_sums_of(scores, from, threads), one) << pixels << " " << classes;
      for (int64_t at = 0; at < scores.batch * pixels; ++at) {
        double largest = score(scores, from, at, 0), sum = 0;
        for (int64_t c = 1; c < classes; ++c) largest = std::max(largest, score(scores, from, at, c));
        for (int64_t c = 0; c < classes; ++c) sum += std::exp(score(scores, from, at, c) - largest);
        ASSERT_EQ(one.largest[static_cast<size_t>(at)], largest) << pixels << " pixels, " << classes << " classes";
        ASSERT_NEAR(one.logs[static_cast<size_t>(at)], std::log(sum), 1e-6)
            << pixels << " pixels, " << classes << " classes";
      }
    }
}

TEST(LogSums, KnowsScoresWithoutBounds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t pixels : {1, 3}) {
    const Scores scores{.batch = 1, .classes = 50, .pixels = pixels};
    std::vector<float> from(static_cast<size_t>(50 * pixels), -kInfinity);
    from[static_cast<size_t>(20 * pixels)] = 3;  // one class is possible for the first pixel, none for the others
    const LogSums sums = log_sums_of(scores, from, 1);
    EXPECT_EQ(sums.largest[0], 3);
    EXPECT_NEAR(sums.logs[0], 0, 1e-7);
    for (int64_t at = 1; at < pixels; ++at) EXPECT_TRUE(std::isnan(sums.logs[static_cast<size_t>(at)]));
    from[static_cast<size_t>(33 * pixels)] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(log_sums_of(scores, from, 1).logs[0]));
  }
}

TEST(ScaledSoftmax, IsWithinRoundingOfTheDefinition) {
  Rng rng(2);
  for (const int64_t classes : {1, 2, 15, 16, 17, 63, 64, 65, 130, 3000}) {
    std::vector<float> from(static_cast<size_t>(classes)), to(from.size() + 1, 7);
    for (float& x : from) x = static_cast<float>(20 * rng.uniform() - 10);
    scaled_softmax(from.data(), classes, -3, to.data());
    EXPECT_EQ(to.back(), 7) << "after the result";
    double sum = 0;
    for (const float x : from) sum += std::exp(static_cast<double>(x));
    for (size_t i = 0; i < from.size(); ++i) {
      const double expected = -3 * std::exp(static_cast<double>(from[i])) / sum;
      // The difference to the largest score, of up to 20, is rounded.
      ASSERT_NEAR(to[i], expected, 2e-6 * std::abs(expected)) << i << " of " << classes;
    }
  }
}

}  // namespace
}  // namespace isomer::onednn
