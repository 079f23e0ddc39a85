#include "isomer/base/byte_pool.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

TEST(BytePool, LendsReturnedBlocksAgain) {
  BytePool pool(100);
  auto first = pool.take(40);
  const std::byte* data = first->data();
  EXPECT_NE(pool.take(40)->data(), data);
  EXPECT_EQ(pool.kept(), 40U);
  first.reset();
  EXPECT_EQ(pool.kept(), 80U);
  EXPECT_EQ(pool.take(40)->data(), data) << "the last one returned";
  EXPECT_NE(pool.take(39)->data(), data) << "another size";
}

TEST(BytePool, KeepsNoMoreThanItsLimit) {
  BytePool pool(100);
  auto first = pool.take(60);
  auto second = pool.take(60);
  first.reset();
  second.reset();
  EXPECT_EQ(pool.kept(), 60U);
}

TEST(BytePool, BlocksOutliveIt) {
  std::shared_ptr<const AlignedBytes> block;
  {
    BytePool pool(100);
    block = pool.take(10);
  }
  block->data()[9] = std::byte{1};
  block.reset();
}

}  // namespace
}  // namespace isomer
