#pragma once
// Memory that is used again and again.

#include <memory>
#include <mutex>
#include <vector>

#include "isomer/base/aligned_bytes.h"

namespace isomer {

/// Lends blocks of memory, and keeps returned ones for the next borrower of as many bytes. Memory that was in use is
/// not cleared, which new memory of the system is. Threads may share a pool.
class BytePool {
 public:
  /// The pool keeps at most `limit` bytes that are not lent.
  explicit BytePool(size_t limit) : kept_(std::make_shared<Kept>(limit)) {}

  /// Returns a block, which goes back to the pool with its last owner, or is freed if the pool is gone.
  std::shared_ptr<const AlignedBytes> take(size_t bytes);

  /// Returns how many bytes are kept.
  size_t kept() const;

 private:
  struct Kept {
    explicit Kept(size_t limit) : limit(limit) {}
    const size_t limit;
    std::mutex mutex;
    std::vector<AlignedBytes> blocks;
    size_t bytes = 0;
  };
  std::shared_ptr<Kept> kept_;
};

}  // namespace isomer
