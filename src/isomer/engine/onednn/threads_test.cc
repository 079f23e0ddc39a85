#include "isomer/engine/onednn/threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

#include "isomer/base/parallel.h"

extern "C" void GOMP_barrier(void);

namespace isomer::onednn {
namespace {

TEST(ParallelFor, CoversEveryItemOnce) {
  for (const int threads : {1, 2, 3}) {
    const ThreadScope scope(threads);
    for (const int64_t count : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      std::atomic<int> parts = 0;
      parallel_for(count, 10, [&](int64_t begin, int64_t end) {
        ++parts;
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
      EXPECT_LE(parts, threads);
      if (count < 20) {
        EXPECT_EQ(parts, 1) << "too little for two";
      }
    }
  }
}

TEST(Team, EachThreadWorksOnceInEachRun) {
  std::vector<int> runs(3, 0);  // without a lock: each thread has its own, and the caller reads them between the runs
  for (int run = 1; run <= 1000; ++run) {
    as_team(3, [&](size_t thread, size_t threads) {
      ++runs[thread];
      EXPECT_EQ(threads, 3U);
    });
    for (const int of_thread : runs) ASSERT_EQ(of_thread, run);
  }
}

TEST(Team, WorksAtTheSameTime) {
  std::atomic<size_t> arrived = 0;
  as_team(2, [&](size_t, size_t) {
    ++arrived;
    for (size_t tries = 0; arrived < 2; ++tries) wait_briefly(tries);
  });
  EXPECT_EQ(arrived, 2U);
}

cpu_set_t own_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(0, sizeof(cores), &cores), 0);
  return cores;
}

/// The cores that the second thread of a team of two may use.
cpu_set_t cores_of_other() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  as_team(2, [&](size_t thread, size_t) {
    if (thread == 1) cores = own_cores();
  });
  return cores;
}

TEST(Team, LeavesTheLeadersCoreToIt) {
  const cpu_set_t all = own_cores();
  std::thread leader([&] {
    size_t moved = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &all)) continue;
      // The leader goes to this core, and may then use all again. The system seldom moves it at that moment.
      for (int tries = 0; tries < 100; ++tries) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
        ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
        const int before = sched_getcpu();
        leave_core_to_leader(2);
        if (before == core && sched_getcpu() == core) break;
      }
      const cpu_set_t cores = own_cores(), others = cores_of_other();
      EXPECT_TRUE(CPU_EQUAL(&cores, &all)) << "the leader may use the same cores as before";
      if (CPU_COUNT(&all) == 1) {
        EXPECT_TRUE(CPU_EQUAL(&others, &all)) << "there is no other core";
        continue;
      }
      EXPECT_FALSE(CPU_ISSET(core, &others));
      EXPECT_EQ(CPU_COUNT(&others), CPU_COUNT(&all) - 1);
      if (++moved == 3) break;
    }
  });
  leader.join();
}

TEST(Threads, AreNotToBeHadInAParallelRegion) {
  EXPECT_TRUE(check_threads(2).has_value());
  as_team(2, [&](size_t, size_t) {
    EXPECT_FALSE(check_threads(2).has_value());
    EXPECT_TRUE(check_threads(1).has_value());
  });
}

TEST(Team, OfOneIsTheCaller) {
  const auto caller = std::this_thread::get_id();
  as_team(1, [&](size_t thread, size_t threads) {
    EXPECT_EQ(thread, 0U);
    EXPECT_EQ(threads, 1U);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST(Team, WhatIsApartDoesNotWaitForIt) {
  std::atomic<int> passed = 0;
  as_team(2, [&](size_t thread, size_t) {
    if (thread == 1) {
      apart([&] {
        GOMP_barrier();
        ++passed;
      });
    }
    for (size_t tries = 0; passed == 0; ++tries) wait_briefly(tries);
  });
  EXPECT_EQ(passed, 1);
}

}  // namespace
}  // namespace isomer::onednn
