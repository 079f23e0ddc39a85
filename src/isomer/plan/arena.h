#pragma once
// Packs buffers into one block of memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isomer/base/function_ref.h"

namespace isomer {

/// A buffer that is in use from the kernel `first` to the kernel `last`, both included.
struct Lifetime {
  size_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
};

/// Offsets of buffers in a block of `bytes`.
struct ArenaLayout {
  std::vector<size_t> offsets;
  size_t bytes = 0;
};

/// Every offset is a multiple of this.
inline constexpr size_t kArenaAlignment = 64;

/// Packs buffers with these numbers of bytes so that two that `conflict`, by their indices, do not overlap: greedy by
/// size, each into the smallest gap that fits (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net
/// Inference", section 5.2). Empty buffers are at 0.
ArenaLayout pack_arena(std::span<const size_t> bytes, FunctionRef<bool(size_t, size_t)> conflict);

/// The same for kernels that run one after the other: buffers conflict if they are live at the same time.
ArenaLayout pack_arena(std::span<const Lifetime> buffers);

/// Returns the maximum number of bytes that are live at one kernel, each buffer rounded up to the alignment: no layout
/// can be smaller.
size_t arena_lower_bound(std::span<const Lifetime> buffers);

}  // namespace isomer
