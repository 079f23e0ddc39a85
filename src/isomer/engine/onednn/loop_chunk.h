#pragma once
// Evaluates loops chunk by chunk.

#include <algorithm>
#include <cstddef>

#include "isomer/engine/onednn/loop_steps.h"

namespace isomer::onednn {

inline constexpr int64_t kLoopChunk = 512;  // elements

/// Returns how many elements of a loop to compute at a time, at most kLoopChunk and whole vectors. Where that is
/// possible, operands repeat, or go on with other elements, only at the start of a chunk.
int64_t loop_chunk(const Loop& loop);

/// The registers of one thread.
class LoopChunks {
 public:
  LoopChunks(const Loop& loop, std::span<const std::byte* const> operands) : loop_(loop), operands_(operands) {}

  /// Computes `count` elements from `begin` on, at most kLoopChunk. Returns where they are: at `to` if that is given,
  /// which then has space for whole vectors. Up to the end of the last vector, other elements follow.
  template <class Vector>
  ISOMER_INLINE const float* evaluate(int64_t begin, int64_t count, float* to) {
    const int64_t padded = (count + kLanes<Vector> - 1) / kLanes<Vector> * kLanes<Vector>;
    for (size_t i = 0; i < loop_.operands.size(); ++i) {
      const LoopOperand& operand = loop_.operands[i];
      if (operand.whole && !operand.conditions && begin + padded <= loop_.count)
        at_[i] = reinterpret_cast<const float*>(operands_[i]) + begin;
      else if (operand.whole && operand.conditions && count == padded)
        fetch_conditions<Vector>(i, begin, count);
      else if (operand.whole || !holds(i, begin, count))
        fetch(i, begin, count, padded);
    }
    const size_t steps = loop_.steps.size();
    for (size_t i = 0; i < steps; ++i) {
      const LoopStep& step = loop_.steps[i];
      float* const out = i + 1 == steps && to != nullptr ? to : slots_[step.to];
      loop_steps::perform<Vector>(step, at_[step.from[0]], at_[step.from[1]], at_[step.from[2]], out, padded);
      at_[step.to] = out;
    }
    return steps == 0 ? at_[0] : at_[loop_.steps.back().to];
  }

 private:
  /// The elements that a register has of an operand that repeats: those of this chunk, and of others of the same group.
  struct Held {
    int64_t at = 0;
    int64_t count = 0;
    int64_t group_begin = 0;
    int64_t group_end = 0;
  };

  /// Returns whether the register of an operand already has a chunk, up to the end of its last vector.
  bool holds(size_t operand, int64_t begin, int64_t count) const {
    const Held& held = held_[operand];
    const int64_t width = loop_.operands[operand].width;
    if (begin < held.group_begin || begin + count > held.group_end || count > held.count) return false;
    return width == 1 || (begin - held.at) % width == 0;
  }

  template <class Vector>
  ISOMER_INLINE void fetch_conditions(size_t operand, int64_t begin, int64_t count) {
    typedef uint8_t Bytes __attribute__((vector_size(kLanes<Vector>)));
    const auto* const from = reinterpret_cast<const uint8_t*>(operands_[operand]) + begin;
    for (int64_t i = 0; i < count; i += kLanes<Vector>) {
      Bytes bytes;
      std::memcpy(&bytes, from + i, sizeof(bytes));
      const loop_steps::MaskOf<Vector> mask = __builtin_convertvector(bytes, loop_steps::MaskOf<Vector>) != 0;
      Vector bits;
      loop_steps::from_mask(bits, mask);
      store(slots_[operand] + i, bits);
    }
    at_[operand] = slots_[operand];
  }
  void fetch(size_t operand, int64_t begin, int64_t count, int64_t padded);
  const float* in_place(size_t operand, int64_t begin, int64_t padded) const;
  void spread(size_t operand, int64_t begin, int64_t count);

  const Loop& loop_;
  const std::span<const std::byte* const> operands_;
  const float* at_[kMaxLoopRegisters] = {};  // the current chunk of each register
  Held held_[kMaxLoopOperands] = {};
  alignas(64) float slots_[kMaxLoopRegisters][kLoopChunk];
};

}  // namespace isomer::onednn
