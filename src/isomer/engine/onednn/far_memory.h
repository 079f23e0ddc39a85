#pragma once
// Memory that was not read for a long time, for the weights of kernels that are timed.

#include <cstddef>

#include "isomer/base/aligned_bytes.h"

namespace isomer::onednn {

/// Lends memory in a ring: what it lends next was lent longest ago, as the weights that a large model reads next.
/// Kernels that are timed one after the other share it; otherwise each would have to fill as much memory. The bytes are
/// random numbers from 0.5 to 1, also if they are taken for BFloat16. It keeps what was reserved. Not thread-safe.
class FarMemory {
 public:
  /// Rounds a size up to whole cache lines, as `lend` does.
  static size_t whole(size_t bytes);
  /// Makes at least so many bytes available. Addresses that were lent before become invalid.
  void reserve(size_t bytes);
  /// Returns the next bytes, aligned to AlignedBytes::kAlignment; at most as many as are available. The end of the
  /// memory is left out if they do not fit there.
  std::byte* lend(size_t bytes);
  /// Reads the next bytes of the ring in their order.
  void read_next(size_t bytes) const;

 private:
  AlignedBytes bytes_;
  size_t next_ = 0;
};

}  // namespace isomer::onednn
