#include "isomer/plan/neighbors.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

TEST(Neighbors, WeightsFromMemoryBindAKernelToIt) {
  const NeighborCosts costs{.memory_us = 4, .cache_us = 1};
  EXPECT_EQ(costs.memory_share(400, 100), 1) << "all from memory, which takes all of the time";
  EXPECT_EQ(costs.memory_share(800, 100), 0.5) << "the kernel computes as long as it reads";
  EXPECT_EQ(costs.memory_share(100, 100), 0) << "the shared cache has them";
  EXPECT_EQ(costs.memory_share(250, 100), 0.8) << "50 bytes of each: 50 + 200 microseconds";
  EXPECT_EQ(costs.memory_share(50, 100), 0) << "faster than the shared cache: some are in the core's own";
  EXPECT_EQ(costs.memory_share(100, 0), 0);
  EXPECT_EQ(costs.memory_share(0, 100), 0);
  EXPECT_EQ(NeighborCosts().memory_share(100, 100), 0) << "nothing is known";
}

TEST(Neighbors, SlowEachOtherDownByWhatBindsThem) {
  const Neighborhood two{.costs = {.slowdown = {{{1, 1.25}, {1.5, 2}}}}, .memory_share = {0, 1, 0.5}};
  EXPECT_EQ(two.slowdown(0, 0), 1);
  EXPECT_EQ(two.slowdown(0, 1), 1.25);
  EXPECT_EQ(two.slowdown(1, 0), 1.5);
  EXPECT_EQ(two.slowdown(1, 1), 2);
  EXPECT_EQ(two.slowdown(2, 1), (1.25 + 2) / 2);
  EXPECT_EQ(two.slowdown(2, 2), (1 + 1.25 + 1.5 + 2) / 4);
  EXPECT_EQ(Neighborhood().slowdown(0, 1), 1);
}

TEST(Neighbors, ThatDivideATaskReadWhatOthersMade) {
  const Neighborhood all{.costs = {.transfer_us = 0.001}, .inputs = {{}, {{0, 6000}, {0, 2000}}}};
  EXPECT_EQ(all.transfer_among(0, 2), 0);
  EXPECT_EQ(all.transfer_among(1, 1), 0);
  EXPECT_EQ(all.transfer_among(1, 2), 2000) << "each of two cores reads 4000 bytes, and made half of them";
  EXPECT_EQ(all.transfer_among(1, 4), 1500) << "each of four reads 2000, and made a quarter";
  EXPECT_EQ(Neighborhood().transfer_among(1, 2), 0);
}

TEST(Neighbors, RunPartsOfATask) {
  const Neighborhood memory{.costs = {.slowdown = {{{1, 1}, {1, 1.5}}}, .cache_us = 0.001}, .memory_share = {0, 1}};
  EXPECT_EQ(memory.among_parts(0, 100, 2), 100);
  EXPECT_EQ(memory.among_parts(1, 100, 2), 150);
  EXPECT_EQ(memory.among_parts(1, 100, 3), 200) << "two others";
  EXPECT_EQ(memory.copying(1000, 2), 1000) << "each of two reads and writes 500 bytes";
}

}  // namespace
}  // namespace isomer
