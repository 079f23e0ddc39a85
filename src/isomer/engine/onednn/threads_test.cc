#include "isomer/engine/onednn/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

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

}  // namespace
}  // namespace isomer::onednn
