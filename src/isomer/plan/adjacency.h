#pragma once
// Neighbors of the nodes of a directed graph that changes.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace isomer {

/// A list of neighbors for each node, all in one array, as in compressed sparse rows. A list that outgrows its place
/// moves to the end of the array with twice the room.
class Adjacency {
 public:
  void add_node() { lists_.emplace_back(); }

  /// Valid until the next change.
  std::span<const uint32_t> of(uint32_t node) const { return {pool_.data() + lists_[node].begin, lists_[node].size}; }

  void add(uint32_t node, uint32_t neighbor) {
    List& list = lists_[node];
    if (list.size == list.room) {
      const size_t begin = pool_.size();
      pool_.resize(begin + std::max<size_t>(2, size_t{2} * list.room));
      std::copy_n(pool_.begin() + static_cast<ptrdiff_t>(list.begin), list.size,
                  pool_.begin() + static_cast<ptrdiff_t>(begin));
      list.begin = begin;
      list.room = static_cast<uint32_t>(pool_.size() - begin);
    }
    pool_[list.begin + list.size++] = neighbor;
  }

  /// False if it is not a neighbor. The last neighbor takes its place.
  bool remove(uint32_t node, uint32_t neighbor) {
    List& list = lists_[node];
    const std::span<uint32_t> all(pool_.data() + list.begin, list.size);
    const auto found = std::find(all.begin(), all.end(), neighbor);
    if (found == all.end()) return false;
    *found = all.back();
    --list.size;
    return true;
  }

  void clear(uint32_t node) { lists_[node].size = 0; }

 private:
  struct List {
    size_t begin = 0;
    uint32_t size = 0;
    uint32_t room = 0;
  };
  std::vector<List> lists_;
  std::vector<uint32_t> pool_;
};

}  // namespace isomer
