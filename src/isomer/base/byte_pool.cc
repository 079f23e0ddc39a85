#include "isomer/base/byte_pool.h"

#include <algorithm>

namespace isomer {

std::shared_ptr<const AlignedBytes> BytePool::take(size_t bytes) {
  AlignedBytes block;
  {
    const std::lock_guard lock(kept_->mutex);
    // The last one that was returned is the nearest in caches.
    const auto found = std::find_if(kept_->blocks.rbegin(), kept_->blocks.rend(),
                                    [&](const auto& kept) { return kept.size() == bytes; });
    if (found != kept_->blocks.rend()) {
      block = std::move(*found);
      kept_->blocks.erase(std::next(found).base());
      kept_->bytes -= bytes;
    }
  }
  if (block.data() == nullptr) block = AlignedBytes(bytes);
  const auto put_back = [kept = std::weak_ptr(kept_)](AlignedBytes* returned) {
    const std::unique_ptr<AlignedBytes> owner(returned);
    const auto pool = kept.lock();
    if (pool == nullptr) return;
    const std::lock_guard lock(pool->mutex);
    if (pool->limit - pool->bytes < owner->size()) return;
    pool->bytes += owner->size();
    pool->blocks.push_back(std::move(*owner));
  };
  return {new AlignedBytes(std::move(block)), put_back};
}

size_t BytePool::kept() const {
  const std::lock_guard lock(kept_->mutex);
  return kept_->bytes;
}

}  // namespace isomer
