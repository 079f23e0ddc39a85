#include "isomer/engine/onednn/far_memory.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "isomer/base/rng.h"
#include "isomer/engine/kernels.h"

namespace isomer::onednn {
namespace {

constexpr size_t kLine = AlignedBytes::kAlignment;

/// Returns numbers from 0.5 to 1 whose two halves are equal: each is the number rounded to BFloat16.
std::vector<uint32_t> random_pairs(size_t count) {
  Rng rng(1);
  constexpr uint32_t kMantissa = 0x7f, kHalf = 0x3f00;
  std::vector<uint32_t> pairs;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t half = (static_cast<uint32_t>(rng.next()) & kMantissa) | kHalf;
    pairs.push_back(half << 16U | half);
  }
  return pairs;
}

}  // namespace

size_t FarMemory::whole(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

void FarMemory::reserve(size_t bytes) {
  if (bytes <= bytes_.size()) return;
  bytes_ = {};  // frees the old memory first
  bytes_ = AlignedBytes(std::max(whole(bytes), static_cast<size_t>(kFarthestWeights)));
  next_ = 0;
  const std::vector<uint32_t> pairs = random_pairs(1 << 16);
  const size_t period = pairs.size() * sizeof(uint32_t);
  for (size_t at = 0; at < bytes_.size(); at += period)
    std::memcpy(bytes_.data() + at, pairs.data(), std::min(period, bytes_.size() - at));
}

std::byte* FarMemory::lend(size_t bytes) {
  const size_t taken = whole(bytes);
  assert(taken <= bytes_.size());
  if (next_ + taken > bytes_.size()) next_ = 0;
  next_ += taken;
  return bytes_.data() + next_ - taken;
}

void FarMemory::read_next(size_t bytes) const {
  size_t at = next_;
  for (size_t done = 0; done < std::min(bytes, bytes_.size()); done += kLine, at += kLine) {
    if (at >= bytes_.size()) at = 0;
    [[maybe_unused]] const volatile std::byte line = bytes_.data()[at];
  }
}

}  // namespace isomer::onednn
