#pragma once
// Finds numbers by content hashes. One array with linear probing: searches make such an index for every graph that they
// build, and most graphs are small.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace isomer {

class HashIndex {
 public:
  /// Makes room for so many entries.
  void reserve(size_t count) {
    size_t slots = kMinSlots;
    while (slots < 2 * count) slots *= 2;
    if (slots > slots_.size()) grow(slots);
  }

  /// Returns the number of a hash; nullptr if it has none.
  const uint32_t* find(uint64_t hash) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place(hash)];
    return slot.number == kFree ? nullptr : &slot.number;
  }

  /// Adds a number below 2^32 - 1. A hash that has one already keeps it.
  void emplace(uint64_t hash, uint32_t number) {
    if (2 * (count_ + 1) > slots_.size()) grow(slots_.empty() ? kMinSlots : 2 * slots_.size());
    Slot& slot = slots_[place(hash)];
    if (slot.number != kFree) return;
    slot = {hash, number};
    ++count_;
  }

  /// Removes all entries and keeps the room.
  void clear() {
    std::fill(slots_.begin(), slots_.end(), Slot());
    count_ = 0;
  }

 private:
  static constexpr uint32_t kFree = std::numeric_limits<uint32_t>::max();
  static constexpr size_t kMinSlots = 64;
  struct Slot {
    uint64_t hash = 0;
    uint32_t number = kFree;
  };

  /// Returns the slot of a hash, or the free one where it belongs.
  size_t place(uint64_t hash) const {
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].number != kFree && slots_[at].hash != hash) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow(size_t slots) {
    std::vector<Slot> before(slots);
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.number != kFree) slots_[place(slot.hash)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  size_t count_ = 0;
};

}  // namespace isomer
