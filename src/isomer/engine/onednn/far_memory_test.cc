#include "isomer/engine/onednn/far_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "isomer/engine/kernels.h"

namespace isomer::onednn {
namespace {

TEST(FarMemory, LendsItsBytesInTurn) {
  FarMemory far;
  far.reserve(1);
  const auto size = static_cast<size_t>(kFarthestWeights);
  std::byte* const first = far.lend(100);
  EXPECT_EQ(far.lend(64), first + 128) << "aligned";
  EXPECT_EQ(far.lend(1), first + 192);
  EXPECT_EQ(far.lend(size - 256), first + 256) << "the rest";
  EXPECT_EQ(far.lend(size / 2), first) << "the first again";
  EXPECT_EQ(far.lend(size / 2 + 64), first) << "what does not fit behind it is lent from the beginning";
  far.read_next(2 * size);
  far.reserve(size);
  EXPECT_EQ(far.lend(64), first + size / 2 + 64) << "enough is reserved";
}

TEST(FarMemory, HoldsNumbersOfBothTypes) {
  FarMemory far;
  far.reserve(static_cast<size_t>(kFarthestWeights) + 1000);
  const size_t count = (static_cast<size_t>(kFarthestWeights) + 1000) / sizeof(uint32_t);
  std::vector<uint32_t> bits(count);
  std::memcpy(bits.data(), far.lend(count * sizeof(uint32_t)), count * sizeof(uint32_t));
  double sum = 0;
  for (const uint32_t both : bits) {
    ASSERT_EQ(both >> 16U, both & 0xffffU);
    float number = 0;
    std::memcpy(&number, &both, sizeof(number));
    ASSERT_LT(std::abs(number), 0.51F);
    ASSERT_GT(std::abs(number), 0.03F);
    sum += number;
  }
  EXPECT_LT(std::abs(sum / static_cast<double>(count)), 0.01);
}

}  // namespace
}  // namespace isomer::onednn
