#include "isomer/engine/onednn/caches.h"

#include <gtest/gtest.h>

#include <vector>

namespace isomer::onednn {
namespace {

TEST(Caches, FlushedBytesStayAsTheyAre) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<std::byte>(i % 251));
  const std::vector<std::byte> before = bytes;
  bytes[500] = std::byte{7};  // only in a cache so far
  flush(bytes);
  flush(std::span<const std::byte>());
  EXPECT_EQ(bytes[500], std::byte{7});
  bytes[500] = before[500];
  EXPECT_EQ(bytes, before);
}

}  // namespace
}  // namespace isomer::onednn
