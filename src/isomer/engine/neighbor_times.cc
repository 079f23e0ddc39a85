#include "isomer/engine/neighbor_times.h"

#include <algorithm>

namespace isomer {

NeighborCosts to_costs(const NeighborTimes& times) {
  const auto [computes, computes_next_to_core, computes_next_to_memory, reads, reads_next_to_core, reads_next_to_memory,
              shared, own, passed, line] = times;
  constexpr double kBytes = 1 << 20;
  // Nothing is faster with a neighbor: if it seems so, the machine was disturbed.
  const auto ratio = [](double next_to, double alone) { return alone > 0 ? std::max(next_to / alone, 1.0) : 1.0; };
  return {.slowdown = {{{ratio(computes_next_to_core, computes), ratio(computes_next_to_memory, computes)},
                        {ratio(reads_next_to_core, reads), ratio(reads_next_to_memory, reads)}}},
          .synchronization_us = line,
          .transfer_us = std::max(passed - own, 0.0) / kBytes,
          .memory_us = reads / kBytes,
          .cache_us = shared / kBytes};
}

}  // namespace isomer
