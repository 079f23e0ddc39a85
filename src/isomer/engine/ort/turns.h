#pragma once
// Which kernels are timed in turn.

#include <optional>
#include <span>
#include <vector>

#include "isomer/engine/kernels.h"

namespace isomer {

/// What the runs of a kernel mean for the caches.
struct KernelAccess {
  double distance = 0;  ///< bytes that evict its weights between two runs
  double bytes = 0;     ///< that a run accesses, and what happens just before it
};

/// Returns the accesses of a kernel: its operands count twice, since they are written again before each run.
KernelAccess access_of(const KernelRun& run);

/// Kernels that run once in each turn.
struct Turn {
  std::vector<size_t> kernels = {};  ///< by their index
  double evicted = 0;                ///< bytes to read before each turn
};

/// Packs kernels (those without accesses are left out) into turns of equal distances, as few as possible in their
/// order. What the other kernels of a turn access counts towards the distance, so they access no more than that; the
/// bytes that are evicted supply the rest. A kernel that accesses more by itself is alone. Distances are at least 4
/// MiB, which evict a second level of cache.
std::vector<Turn> pack_turns(std::span<const std::optional<KernelAccess>> kernels);

}  // namespace isomer
