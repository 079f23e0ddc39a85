#include "isomer/engine/onednn/far_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

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

TEST(FarMemory, BytesOfOneRoundDoNotOverlap) {
  const auto size = static_cast<size_t>(kFarthestWeights);
  const std::vector<size_t> sizes = {size / 7 + 4, 4100, size / 5};  // of one copy
  constexpr int kCopies = 4;
  size_t bytes = FarMemory::whole(sizes.back());
  for (const size_t one : sizes) bytes += kCopies * FarMemory::whole(one);
  for (const size_t begun : {size_t{64}, bytes / 3, bytes / 2, bytes - 128}) {
    FarMemory far;
    far.reserve(bytes);
    far.lend(begun);
    std::vector<std::pair<std::byte*, std::byte*>> lent;
    for (int copy = 0; copy < kCopies; ++copy)
      for (const size_t one : sizes) {
        std::byte* const first = far.lend(one);
        for (const auto& [begin, end] : lent) EXPECT_TRUE(first >= end || first + one <= begin) << begun;
        lent.emplace_back(first, first + one);
      }
  }
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
    ASSERT_LT(number, 1.01F);
    ASSERT_GE(number, 0.5F);
    sum += number;
  }
  EXPECT_NEAR(sum / static_cast<double>(count), 0.75, 0.01);
}

}  // namespace
}  // namespace isomer::onednn
