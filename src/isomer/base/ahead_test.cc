#include "isomer/base/ahead.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

using Squares = Ahead<uint64_t, uint64_t>;

void no_poll() {}

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

TEST(Ahead, GivesWhatWasComputedOrNothing) {
  for (const size_t threads : {1, 2, 8}) {
    Squares ahead(threads, [&](uint64_t x, size_t thread, const std::atomic<bool>&) {
      EXPECT_LT(thread, threads);
      return x * x;
    });
    Rng rng(threads);
    for (int round = 0; round < 200; ++round) {
      const uint64_t first = rng.below(50);
      for (uint64_t x = first; x < first + 10; ++x) ahead.add(x, x);
      for (uint64_t x = first; x < first + 5; ++x) {
        const auto square = ahead.take(x, no_poll);
        EXPECT_EQ(square.value_or(x * x), x * x);
        EXPECT_EQ(ahead.take(x, no_poll), std::nullopt) << "it was taken";
      }
      const uint64_t kept[] = {first + 7, first + 8};
      ahead.keep_only(kept);
      EXPECT_EQ(ahead.take(first + 6, no_poll), std::nullopt) << "it was forgotten";
    }
  }
}

TEST(Ahead, WaitsForWhatHasBegunAndHelpsMeanwhile) {
  std::atomic<bool> begun = false, helped = false;
  Squares ahead(2, [&](uint64_t x, size_t thread, const std::atomic<bool>&) {
    if (x == 3) {
      EXPECT_EQ(thread, 1);
      begun = true;
      wait_for(helped);
    } else {
      EXPECT_EQ(thread, 0) << "the other thread waits for it";
      helped = true;
    }
    return x * x;
  });
  ahead.add(3, 3);
  wait_for(begun);
  ahead.add(4, 4);
  EXPECT_EQ(ahead.take(3, no_poll), 9);
  EXPECT_EQ(ahead.take(4, no_poll), 16);
}

TEST(Ahead, AbandonsWhatIsForgotten) {
  std::atomic<bool> begun = false, ended = false;
  {
    Squares ahead(2, [&](uint64_t x, size_t, const std::atomic<bool>& abandoned) {
      begun = true;
      wait_for(abandoned);
      ended = true;
      return x;
    });
    ahead.add(1, 1);
    wait_for(begun);
    ahead.keep_only({});
    EXPECT_EQ(ahead.take(1, no_poll), std::nullopt);
    wait_for(ended);
    begun = ended = false;
    ahead.add(1, 1);
    wait_for(begun);
  }
  EXPECT_TRUE(ended) << "the destructor abandons it and waits";
}

TEST(Ahead, PollsWhileItWaits) {
  std::atomic<bool> begun = false, polled = false;
  Squares ahead(2, [&](uint64_t x, size_t, const std::atomic<bool>&) {
    begun = true;
    wait_for(polled);
    return x;
  });
  ahead.add(5, 5);
  wait_for(begun);
  EXPECT_EQ(ahead.take(5, [&] { polled = true; }), 5);
}

TEST(Ahead, ThrowsWhatWasThrown) {
  std::atomic<bool> begun = false;
  Squares ahead(2, [&](uint64_t, size_t, const std::atomic<bool>&) -> uint64_t {
    begun = true;
    throw std::runtime_error("no");
  });
  ahead.add(1, 1);
  wait_for(begun);
  EXPECT_THROW(ahead.take(1, no_poll), std::runtime_error);
}

}  // namespace
}  // namespace isomer
