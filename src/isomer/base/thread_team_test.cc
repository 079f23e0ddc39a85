#include "isomer/base/thread_team.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

namespace isomer {
namespace {

TEST(ThreadTeam, EachThreadWorksOnceInEachRun) {
  ThreadTeam team(4);
  ASSERT_EQ(team.size(), 4U);
  std::array<int, 4> runs{};  // without a lock: each thread has its own, and the caller reads them between the runs
  for (int run = 1; run <= 2000; ++run) {
    team.run([&](size_t thread) { ++runs[thread]; });
    for (const int of_thread : runs) ASSERT_EQ(of_thread, run);
  }
}

TEST(ThreadTeam, WorksAtTheSameTime) {
  ThreadTeam team(3);
  std::atomic<size_t> arrived = 0;
  team.run([&](size_t) {
    ++arrived;
    for (size_t tries = 0; arrived < 3; ++tries) wait_briefly(tries);
  });
  EXPECT_EQ(arrived, 3U);
}

TEST(ThreadTeam, WakesThreadsThatFellAsleep) {
  ThreadTeam team(2);
  std::atomic<int> runs = 0;
  for (int run = 0; run < 3; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    team.run([&](size_t) { ++runs; });
  }
  EXPECT_EQ(runs, 6);
}

TEST(ThreadTeam, OfOneIsTheCaller) {
  ThreadTeam team(1);
  const auto caller = std::this_thread::get_id();
  team.run([&](size_t thread) {
    EXPECT_EQ(thread, 0U);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

}  // namespace
}  // namespace isomer
