#include "isomer/base/hash_index.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

TEST(HashIndex, FindsWhatAMapFinds) {
  Rng rng(1);
  HashIndex index;
  std::unordered_map<uint64_t, uint32_t> map;
  EXPECT_EQ(index.find(0), nullptr);
  for (uint32_t number = 0; number < 3000; ++number) {
    // Few low bits, so that hashes collide in their slots; and some hashes twice.
    const uint64_t hash = (rng.next() % 2000) << 40 | (rng.next() % 4);
    if (number == 1000) index.reserve(5000);
    index.emplace(hash, number);
    map.emplace(hash, number);
  }
  for (const auto& [hash, number] : map) {
    ASSERT_NE(index.find(hash), nullptr);
    EXPECT_EQ(*index.find(hash), number);
    EXPECT_EQ(index.find(hash | uint64_t{1} << 63), nullptr);
  }
}

}  // namespace
}  // namespace isomer
