#pragma once
// What a resource did, in the order of the simulation, and how that changes.

#include "isomer/plan/simulate.h"

namespace isomer {

/// The tasks that one resource serves, in the order of their keys, and when its units are free after each. An update
/// goes through the part that changes, from its first entry to its last, and replaces it at the end.
class ResourceLog {
 public:
  explicit ResourceLog(uint32_t units) : units_(units), initial_(units, 0), before_(units, 0), old_(units, 0) {}

  /// Adds a task behind all others; not during an update.
  void append(const ScheduleKey& key, uint32_t units, Nanoseconds end);

  /// Returns when the units are free after all tasks. Valid until the next change.
  std::span<const Nanoseconds> last() const { return after(keys_.size()); }

  /// Goes to a key, which is not before that of the last change of the update, and returns when the units are free
  /// before it. Begins an update if none is running. Valid until the next change.
  std::span<const Nanoseconds> seek(const ScheduleKey& key);

  /// What happens at a key.
  struct Change {
    bool removes = false;  ///< the entry with this key, which there is
    uint32_t units = 0;    ///< of the task that is added with this key; 0: none
    Nanoseconds end = 0;   ///< of that task
  };
  /// Changes what happens at the key that was sought. Returns true if the units are free at other times than at the
  /// same key before the update. Then the next entry has to be simulated again.
  bool change(const ScheduleKey& key, const Change& change);

  /// Returns the next entry that the update has not passed; null if there is none.
  const ScheduleKey* next() const { return cursor_ < keys_.size() ? &keys_[cursor_] : nullptr; }

  bool updating() const { return updating_; }
  /// Ends the update: with its changes, or as if there had been none.
  void commit();
  void abandon();

 private:
  std::span<const Nanoseconds> after(size_t count) const {
    return count == 0 ? std::span<const Nanoseconds>(initial_)
                      : std::span<const Nanoseconds>(free_).subspan((count - 1) * units_, units_);
  }

  size_t units_;
  std::vector<ScheduleKey> keys_;
  std::vector<Nanoseconds> free_;  // units_ times after each entry
  std::vector<Nanoseconds> initial_;

  // The update replaces the entries from begin_ to cursor_ by the new ones.
  bool updating_ = false;
  bool differs_ = false;  // the times after the last change from those before the update
  size_t begin_ = 0;
  size_t cursor_ = 0;
  std::vector<ScheduleKey> new_keys_;
  std::vector<Nanoseconds> new_free_;
  std::vector<Nanoseconds> before_;  // of the key that was sought
  std::vector<Nanoseconds> old_;     // after that key before the update, if that differs
};

}  // namespace isomer
