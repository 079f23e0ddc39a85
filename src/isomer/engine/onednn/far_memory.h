#pragma once
// Memory that was not read for a long time, for the weights of kernels that are timed.

#include <cstddef>

#include "isomer/base/aligned_bytes.h"

namespace isomer::onednn {

/// Lends its bytes in turn, so that those it lends next are those that were lent first: as a large model reads its
/// weights. Kernels that are timed one after the other share it; otherwise each would have to fill as much memory. The
/// bytes are random numbers, also if they are taken for BFloat16. Not thread-safe.
class FarMemory {
 public:
  /// Makes this many bytes available, which are then lent in turn. Addresses that were lent before become invalid.
  void reserve(size_t bytes);
  /// Returns the next bytes, aligned to AlignedBytes::kAlignment; at most as many as are reserved.
  std::byte* lend(size_t bytes);
  /// Reads the bytes that are lent next, so that the last of them are nearest.
  void read_next(size_t bytes) const;

 private:
  AlignedBytes bytes_;
  size_t next_ = 0;
};

}  // namespace isomer::onednn
