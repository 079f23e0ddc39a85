#include "isomer/base/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

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

TEST(ParallelFor, NothingBeginsAfterAnException) {
  for (const int threads : {1, 2, 5}) {
    std::atomic<int> begun = 0;
    const auto work = [&](size_t i, size_t) {
      ++begun;
      if (i == 0) throw std::runtime_error("no");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    EXPECT_THROW(parallel_for(100'000, threads, 1, work), std::runtime_error);
    EXPECT_LT(begun, 100'000) << threads << " threads";
  }
}

TEST(ParallelFor, ThrowsTheFirstException) {
  std::atomic<bool> thrown = false;
  const auto work = [&](size_t i, size_t) {
    if (i == 1) {
      while (!thrown) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until the other one is on its way
    }
    thrown = true;
    throw std::runtime_error(i == 0 ? "first" : "second");
  };
  try {
    parallel_for(2, 2, 1, work);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

}  // namespace
}  // namespace isomer
