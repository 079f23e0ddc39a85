#include "isomer/engine/onednn/loop_chunk.h"

#include <cstring>
#include <numeric>

namespace isomer::onednn {
namespace {

float condition_bits(std::byte flag) {
  const int32_t mask = flag == std::byte{0} ? 0 : -1;
  float bits;
  std::memcpy(&bits, &mask, sizeof(bits));
  return bits;
}

/// Copies elements that are `stride` apart.
void copy_elements(bool conditions, const std::byte* from, int64_t first, int64_t stride, float* to, int64_t count) {
  if (conditions) {
    for (int64_t i = 0; i < count; ++i) to[i] = condition_bits(from[first + i * stride]);
    return;
  }
  const auto* const elements = reinterpret_cast<const float*>(from) + first;
  if (stride == 1) {
    std::memcpy(to, elements, static_cast<size_t>(count) * sizeof(float));
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = elements[i * stride];
  }
}

/// Repeats the first `width` elements up to `count`.
void repeat_elements(float* to, int64_t width, int64_t count) {
  if (width == 1) {
    const float element = *to;
    const Vector4 four = element - Vector4{};  // a sum would lose the sign of -0
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) store(to + i, four);
    for (; i < count; ++i) to[i] = element;
    return;
  }
  for (int64_t filled = width; filled < count; filled *= 2)
    std::memcpy(to + filled, to, static_cast<size_t>(std::min(filled, count - filled)) * sizeof(float));
}

int64_t offset_of(const LoopOperand& operand, int64_t group) {
  int64_t offset = 0;
  for (const LoopOperand::Level& level : operand.outer) {
    offset += group % level.extent * level.stride;
    group /= level.extent;
  }
  return offset;
}

}  // namespace

int64_t loop_chunk(const Loop& loop) {
  constexpr int64_t kVector = kLanes<Vector16>;
  int64_t period = 0;
  for (const LoopOperand& operand : loop.operands)
    if (!operand.whole && operand.repeat < loop.count)
      period = std::gcd(period, operand.width > 1 ? operand.width : operand.repeat);
  if (period == 0) return kLoopChunk;
  if (const int64_t whole = std::lcm(period, kVector); whole <= kLoopChunk) return kLoopChunk / whole * whole;
  if (period % kVector != 0) return kLoopChunk;
  // The largest part of it that is long enough.
  for (int64_t chunk = kLoopChunk; chunk >= kLoopChunk / 2; chunk -= kVector)
    if (period % chunk == 0) return chunk;
  return kLoopChunk;
}

/// Brings a chunk of an operand into its register.
void LoopChunks::fetch(size_t operand, int64_t begin, int64_t count, int64_t padded) {
  const LoopOperand& what = loop_.operands[operand];
  float* const slot = slots_[operand];
  held_[operand] = {};
  at_[operand] = in_place(operand, begin, padded);
  if (at_[operand] != nullptr) return;
  if (what.whole)
    copy_elements(what.conditions, operands_[operand], begin, 1, slot, count);
  else
    spread(operand, begin, count);
  std::fill(slot + count, slot + padded, 0.0F);
  at_[operand] = slot;
}

/// Returns where a chunk of an operand that is not whole lies, up to the end of its last vector; nullptr if its
/// elements are not adjacent.
const float* LoopChunks::in_place(size_t operand, int64_t begin, int64_t padded) const {
  const LoopOperand& what = loop_.operands[operand];
  if (what.width < padded || what.whole || what.conditions || what.stride != 1) return nullptr;
  const int64_t start = begin % what.width;
  if (start + padded > what.width) return nullptr;
  return reinterpret_cast<const float*>(operands_[operand]) + offset_of(what, begin / (what.width * what.repeat)) +
         start;
}

/// Fills a register with elements that repeat.
void LoopChunks::spread(size_t operand, int64_t begin, int64_t count) {
  const LoopOperand& what = loop_.operands[operand];
  const std::byte* const from = operands_[operand];
  float* const slot = slots_[operand];
  const int64_t size = what.width * what.repeat;
  int64_t group = begin / size;
  int64_t within = begin - group * size;
  if (within + count <= size) held_[operand] = {begin, count, group * size, (group + 1) * size};
  for (int64_t done = 0; done < count; ++group, within = 0) {
    const int64_t base = offset_of(what, group);
    const int64_t part = std::min(count - done, size - within);
    const int64_t start = what.width == 1 ? 0 : within % what.width;
    float* const to = slot + done;
    // The rest of the first repeat, then the beginning of the next ones.
    const int64_t rest = std::min(part, what.width - start);
    copy_elements(what.conditions, from, base + start * what.stride, what.stride, to, rest);
    const int64_t again = std::min(part - rest, start);
    copy_elements(what.conditions, from, base, what.stride, to + rest, again);
    if (part > what.width) repeat_elements(to, what.width, part);
    done += part;
  }
}

}  // namespace isomer::onednn
