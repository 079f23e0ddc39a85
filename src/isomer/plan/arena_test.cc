#include "isomer/plan/arena.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// Checks every byte at every time; shares no code with the packer.
void check(const std::vector<Lifetime>& buffers, const ArenaLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), buffers.size());
  for (size_t a = 0; a < buffers.size(); ++a) {
    EXPECT_EQ(layout.offsets[a] % kArenaAlignment, 0);
    EXPECT_LE(layout.offsets[a] + buffers[a].bytes, layout.bytes);
    for (size_t b = 0; b < a; ++b) {
      bool together = false;
      for (size_t t = buffers[a].first; t <= buffers[a].last; ++t)
        together = together || (t >= buffers[b].first && t <= buffers[b].last);
      const bool apart = layout.offsets[a] + buffers[a].bytes <= layout.offsets[b] ||
                         layout.offsets[b] + buffers[b].bytes <= layout.offsets[a];
      EXPECT_TRUE(!together || apart || buffers[a].bytes == 0 || buffers[b].bytes == 0) << a << " and " << b;
    }
  }
}

TEST(Arena, PingPong) {
  const std::vector<Lifetime> chain = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}};
  const ArenaLayout layout = pack_arena(chain);
  check(chain, layout);
  EXPECT_EQ(layout.bytes, 2048);
}

TEST(Arena, FillsTheSmallestGap) {
  // After the two large ones are placed, gaps of 128 and 64 bytes are left for the two small ones.
  const std::vector<Lifetime> buffers = {{640, 0, 0}, {128, 1, 9}, {576, 0, 9}, {64, 1, 9}};
  const ArenaLayout layout = pack_arena(buffers);
  check(buffers, layout);
  EXPECT_EQ(layout.bytes, arena_lower_bound(buffers));
}

TEST(Arena, NothingAndEmptyBuffers) {
  EXPECT_EQ(pack_arena({}).bytes, 0);
  const std::vector<Lifetime> empty = {{0, 0, 5}, {0, 0, 5}};
  EXPECT_EQ(pack_arena(empty).bytes, 0);
}

TEST(Arena, RandomBuffersNeverOverlap) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> buffers(1 + rng.below(60));
    for (Lifetime& buffer : buffers) {
      buffer.bytes = rng.below(5000);
      buffer.first = rng.below(40);
      buffer.last = buffer.first + rng.below(12);
    }
    const ArenaLayout layout = pack_arena(buffers);
    check(buffers, layout);
    EXPECT_GE(layout.bytes, arena_lower_bound(buffers));
  }
}

}  // namespace
}  // namespace isomer
