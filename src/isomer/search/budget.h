#pragma once
// What a search may spend.

#include <cstdint>
#include <limits>
#include <string>

#include "isomer/base/deadline.h"

namespace isomer {

/// Time, and graphs that get a cost. A search that has spent its budget returns the best graph so far.
struct Budget {
  Deadline end = Deadline::never();
  int64_t candidates = std::numeric_limits<int64_t>::max();

  /// This budget with at most this share of the time that is left.
  Budget share(double of_time) const { return {end.within(of_time * end.left()), candidates}; }

  /// Returns why a search that has costed so many graphs must end: "time budget", "interrupted" or "candidate budget";
  /// empty if it may continue.
  std::string spent(int64_t costed) const {
    if (end.passed()) return end.reason();
    return costed >= candidates ? "candidate budget" : "";
  }
};

}  // namespace isomer
