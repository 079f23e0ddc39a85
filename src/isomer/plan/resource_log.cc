#include "isomer/plan/resource_log.h"

namespace isomer {
namespace {

/// Replaces `count` values at a place by others.
template <class T>
void replace(std::vector<T>& values, size_t begin, size_t count, const std::vector<T>& by) {
  const auto at = values.begin() + static_cast<ptrdiff_t>(begin);
  const size_t common = std::min(count, by.size());
  std::copy_n(by.begin(), common, at);
  const auto rest = at + static_cast<ptrdiff_t>(common);
  if (count > common) {
    values.erase(rest, at + static_cast<ptrdiff_t>(count));
  } else {
    values.insert(rest, by.begin() + static_cast<ptrdiff_t>(common), by.end());
  }
}

}  // namespace

void ResourceLog::append(const ScheduleKey& key, uint32_t units, Nanoseconds end) {
  const size_t size = free_.size();
  free_.resize(size + units_);
  const auto from = keys_.empty() ? initial_.begin() : free_.begin() + static_cast<ptrdiff_t>(size - units_);
  std::copy_n(from, units_, free_.begin() + static_cast<ptrdiff_t>(size));
  occupy(FreeUnits(free_).subspan(size), units, key.ready, end);
  keys_.push_back(key);
}

std::span<const Nanoseconds> ResourceLog::seek(const ScheduleKey& key) {
  const auto from = keys_.begin() + static_cast<ptrdiff_t>(updating_ ? cursor_ : 0);
  // Usually the next entry is the one.
  const auto found =
      updating_ && (from == keys_.end() || *from >= key) ? from : std::lower_bound(from, keys_.end(), key);
  const auto place = static_cast<size_t>(found - keys_.begin());
  if (!updating_) {
    updating_ = true;
    begin_ = cursor_ = place;
  }
  if (cursor_ < place) {
    new_keys_.insert(new_keys_.end(), from, found);
    new_free_.insert(new_free_.end(), free_.begin() + static_cast<ptrdiff_t>(cursor_ * units_),
                     free_.begin() + static_cast<ptrdiff_t>(place * units_));
    cursor_ = place;
  }
  const auto before = new_keys_.empty() ? after(begin_) : std::span<const Nanoseconds>(new_free_).last(units_);
  std::copy(before.begin(), before.end(), before_.begin());
  return before_;
}

bool ResourceLog::change(const ScheduleKey& key, const Change& change) {
  if (change.removes) {
    ++cursor_;
    const auto old = after(cursor_);
    std::copy(old.begin(), old.end(), old_.begin());
  } else if (!differs_) {
    old_ = before_;
  }
  if (change.units > 0) {
    occupy(before_, change.units, key.ready, change.end);
    new_keys_.push_back(key);
    new_free_.insert(new_free_.end(), before_.begin(), before_.end());
  }
  // No later task is ready before this key, so earlier times are all alike.
  differs_ = !std::equal(before_.begin(), before_.end(), old_.begin(), [&](Nanoseconds a, Nanoseconds b) {
    return std::max(a, key.ready) == std::max(b, key.ready);
  });
  return differs_;
}

void ResourceLog::commit() {
  if (begin_ == 0 && cursor_ == keys_.size()) {
    keys_.swap(new_keys_);
    free_.swap(new_free_);
  } else {
    replace(keys_, begin_, cursor_ - begin_, new_keys_);
    replace(free_, begin_ * units_, (cursor_ - begin_) * units_, new_free_);
  }
  abandon();
}

void ResourceLog::abandon() {
  updating_ = differs_ = false;
  begin_ = cursor_ = 0;
  new_keys_.clear();
  new_free_.clear();
}

}  // namespace isomer
