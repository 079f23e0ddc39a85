#pragma once
// Places the activations of a plan: packs buffers with known lifetimes into one block of memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace isomer::onednn {

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

/// Packs buffers so that buffers that are live at the same time do not overlap: greedy by size, each into the smallest
/// gap that fits (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net Inference", section 5.2).
/// Empty buffers are at 0.
ArenaLayout pack_arena(std::span<const Lifetime> buffers);

/// Returns the maximum number of bytes that are live at one kernel, each buffer rounded up to the alignment: no layout
/// can be smaller.
size_t arena_lower_bound(std::span<const Lifetime> buffers);

}  // namespace isomer::onednn
