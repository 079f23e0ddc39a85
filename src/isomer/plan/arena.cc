#include "isomer/plan/arena.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace isomer {
namespace {

size_t aligned(size_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

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

ArenaLayout pack_arena(std::span<const size_t> bytes, FunctionRef<bool(size_t, size_t)> conflict) {
  ArenaLayout layout;
  layout.offsets.assign(bytes.size(), 0);
  std::vector<size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  std::vector<size_t> placed;
  std::vector<std::pair<size_t, size_t>> taken;
  for (const size_t i : order) {
    if (bytes[i] == 0) continue;
    taken.clear();
    for (const size_t other : placed)
      if (conflict(i, other)) taken.emplace_back(layout.offsets[other], layout.offsets[other] + aligned(bytes[other]));
    std::sort(taken.begin(), taken.end());
    layout.offsets[i] = best_gap(taken, aligned(bytes[i]));
    layout.bytes = std::max(layout.bytes, layout.offsets[i] + aligned(bytes[i]));
    placed.push_back(i);
  }
  return layout;
}

ArenaLayout pack_arena(std::span<const Lifetime> buffers) {
  std::vector<size_t> bytes;
  bytes.reserve(buffers.size());
  for (const Lifetime& buffer : buffers) bytes.push_back(buffer.bytes);
  return pack_arena(bytes, [&](size_t a, size_t b) {
    return buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
  });
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
  int64_t peak = 0;
  for (const int64_t step : change) peak = std::max(peak, alive += step);
  return static_cast<size_t>(peak);
}

}  // namespace isomer
