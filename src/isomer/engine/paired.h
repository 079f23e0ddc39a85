#pragma once
// Times two models against each other.

#include "isomer/base/deadline.h"
#include "isomer/base/stats.h"
#include "isomer/engine/engine.h"

namespace isomer {

/// Microseconds of every run, in a group for each time that the models were loaded. Runs at equal positions are
/// adjacent in time.
struct PairedTimes {
  std::vector<std::vector<double>> first;
  std::vector<std::vector<double>> second;

  /// Appends the groups of `more`.
  void add(PairedTimes more);
  /// Returns first / second with its interval; above 1, the second is faster.
  Interval ratio(uint64_t seed) const { return grouped_ratio(first, second, seed); }
};

/// Returns all groups in one list.
std::vector<double> flattened(const std::vector<std::vector<double>>& groups);

inline constexpr int kLoads = 4;  ///< of both models, if nothing else is said

/// Loads both models `loads` times, in alternating order, and each time runs them in turn for its share of `timing`. A
/// model may run some percent faster only because of the place of its weights in memory, which differs between loads.
/// Stops loading after the deadline; an Error if it passed before the first load.
Result<PairedTimes> time_pair(Engine& engine, const std::filesystem::path& first, const std::filesystem::path& second,
                              std::span<const NamedTensor> first_inputs, std::span<const NamedTensor> second_inputs,
                              const TimingOptions& timing, int loads = kLoads,
                              const Deadline& deadline = Deadline::never());

}  // namespace isomer
