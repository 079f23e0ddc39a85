#include "isomer/engine/onednn/arena.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace isomer::onednn {
namespace {

size_t aligned(size_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// Returns the start of the smallest gap of `bytes` between `taken` (sorted by start); the end of all if there is none.
size_t best_gap(const std::vector<std::pair<size_t, size_t>>& taken, size_t bytes) {
  size_t end = 0;
  size_t best = 0;
  size_t smallest = std::numeric_limits<size_t>::max();
  for (const auto& [from, to] : taken) {
    if (from >= end + bytes && from - end < smallest) {
      smallest = from - end;
      best = end;
    }
    end = std::max(end, to);
  }
  return smallest == std::numeric_limits<size_t>::max() ? end : best;
}

}  // namespace

ArenaLayout pack_arena(std::span<const Lifetime> buffers) {
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<size_t> placed;
  std::vector<std::pair<size_t, size_t>> taken;
  for (const size_t i : order) {
    if (buffers[i].bytes == 0) continue;
    taken.clear();
    for (const size_t other : placed)
      if (overlap(buffers[i], buffers[other]))
        taken.emplace_back(layout.offsets[other], layout.offsets[other] + aligned(buffers[other].bytes));
    std::sort(taken.begin(), taken.end());
    layout.offsets[i] = best_gap(taken, aligned(buffers[i].bytes));
    layout.bytes = std::max(layout.bytes, layout.offsets[i] + aligned(buffers[i].bytes));
    placed.push_back(i);
  }
  return layout;
}

size_t arena_lower_bound(std::span<const Lifetime> buffers) {
  size_t last = 0;
  for (const Lifetime& buffer : buffers) last = std::max(last, buffer.last);
  std::vector<int64_t> change(last + 2, 0);
  for (const Lifetime& buffer : buffers) {
    change[buffer.first] += static_cast<int64_t>(aligned(buffer.bytes));
    change[buffer.last + 1] -= static_cast<int64_t>(aligned(buffer.bytes));
  }
  int64_t alive = 0;
  int64_t most = 0;
  for (const int64_t step : change) most = std::max(most, alive += step);
  return static_cast<size_t>(most);
}

}  // namespace isomer::onednn
