#pragma once
// Two models timed against each other.

#include "isomer/base/deadline.h"
#include "isomer/base/stats.h"
#include "isomer/engine/engine.h"

namespace isomer {

/// Microseconds of every run, a group for each time that the models were loaded; neighbours in time stand at equal
/// places.
struct PairedTimes {
  std::vector<std::vector<double>> first;
  std::vector<std::vector<double>> second;

  /// Appends the groups of `more`.
  void add(PairedTimes more);
  /// first / second with its interval: above 1, the second is faster.
  Interval ratio(uint64_t seed) const { return grouped_ratio(first, second, seed); }
};

/// All groups in one list.
std::vector<double> flattened(const std::vector<std::vector<double>>& groups);

/// Loads both models `loads` times, in either order by turns, and each time runs them in turn for its share of
/// `timing`: a model may run some percent faster for where its weights happen to lie in memory, and that is not its
/// merit. Loads no further time after the deadline; an Error where that passed before the first.
Result<PairedTimes> time_pair(Engine& engine, const std::filesystem::path& first, const std::filesystem::path& second,
                              std::span<const NamedTensor> first_inputs, std::span<const NamedTensor> second_inputs,
                              const TimingOptions& timing, int loads = 4, const Deadline& deadline = Deadline::never());

}  // namespace isomer
