#pragma once
// What a search asks about candidates.

#include "isomer/base/result.h"
#include "isomer/base/stats.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Compares candidates with the best graph so far.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Ratio of the latencies of `current` and `candidate` with its 95% interval: above 1, the candidate is faster. An
  /// Error where the candidate cannot be run; the search then passes over it.
  virtual Result<Interval> speedup(const Graph& current, const Graph& candidate) = 0;
};

}  // namespace isomer
