#pragma once
// What a search may spend.

#include <cstdint>
#include <limits>
#include <string>

#include "isomer/base/deadline.h"

namespace isomer {

/// Time, graphs that get a cost, and memory. A search that has spent its budget returns the best graph so far.
struct Budget {
  Deadline end = Deadline::never();
  int64_t candidates = std::numeric_limits<int64_t>::max();
  int64_t bytes = int64_t{4} << 30;  ///< approximate; counted by the searches that store all graphs

  /// This budget with at most this share of the time that is left.
  Budget share(double of_time) const { return {end.within(of_time * end.left()), candidates, bytes}; }

  /// Returns why a search that has costed so many graphs and stores so many bytes must end: "time budget",
  /// "interrupted", "candidate budget" or "memory"; empty if it may continue.
  std::string spent(int64_t costed, int64_t stored = 0) const {
    if (end.passed()) return end.reason();
    if (costed >= candidates) return "candidate budget";
    return stored > bytes ? "memory" : "";
  }
};

}  // namespace isomer
