#pragma once
// What a search asks about candidates.

#include <optional>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/base/stats.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Compares candidates with the best graph so far.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// What costs alone say of the ratio, before anything runs; infinite where a limit is met at last, 0 where one is
  /// exceeded. Nothing where there are no costs to ask.
  virtual std::optional<double> predicted([[maybe_unused]] const Graph& current,
                                          [[maybe_unused]] const Graph& candidate) {
    return std::nullopt;
  }
  /// Ratio of the latencies of `current` and `candidate` with its 95% interval: above 1, the candidate is faster. An
  /// Error where the candidate cannot be run; the search then passes over it. An oracle that measures looks again when
  /// it is asked again, and answers from all that it saw of the pair.
  virtual Result<Interval> speedup(const Graph& current, const Graph& candidate) = 0;
};

/// The oracle's answer, asked again (three times at most, and not after `end`) while the candidate is more likely than
/// not better than `least` and the interval still too wide to be sure that it is faster at all.
Result<Interval> look_closely(Oracle& oracle, const Graph& current, const Graph& candidate, double least,
                              const Deadline& end);

}  // namespace isomer
