#include "isomer/base/parallel.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace isomer {
namespace {

TEST(ParallelFor, DoesEverythingOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<int> done(100, 0);
    parallel_for(done.size(), threads, 7, [&](size_t i, size_t thread) {
      ++done[i];
      EXPECT_LT(thread, threads);
    });
    EXPECT_EQ(done, std::vector<int>(100, 1));
  }
}

TEST(ParallelFor, ThrowsTheFirstException) {
  for (const int threads : {1, 2, 5}) {
    std::atomic<size_t> done = 0;
    const auto work = [&](size_t, size_t) {
      ++done;
      throw std::runtime_error("no");
    };
    EXPECT_THROW(parallel_for(1000, threads, 1, work), std::runtime_error);
    EXPECT_LE(done, threads) << "nothing begins after an exception";
  }
}

}  // namespace
}  // namespace isomer
