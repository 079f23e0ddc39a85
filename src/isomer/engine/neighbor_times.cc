#include "isomer/engine/neighbor_times.h"

#include <algorithm>

namespace isomer {

NeighborCosts to_costs(const NeighborTimes& times) {
  const auto [computes, computes_beside_core, computes_beside_memory, reads, reads_beside_core, reads_beside_memory,
              shared, own, passed, line] = times;
  constexpr double kBytes = 1 << 20;
  // Nothing is faster beside a neighbor: if it seems so, the machine was disturbed.
  const auto ratio = [](double beside, double alone) { return alone > 0 ? std::max(beside / alone, 1.0) : 1.0; };
  return {.slowdown = {{{ratio(computes_beside_core, computes), ratio(computes_beside_memory, computes)},
                        {ratio(reads_beside_core, reads), ratio(reads_beside_memory, reads)}}},
          .synchronization_us = line,
          .transfer_us = std::max(passed - own, 0.0) / kBytes,
          .memory_us = reads / kBytes,
          .cache_us = shared / kBytes};
}

}  // namespace isomer
