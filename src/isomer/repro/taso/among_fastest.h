#pragma once
// Which of several alternatives are fastest, as far as measurements can tell?

#include <span>
#include <vector>

namespace isomer {

/// The times of an alternative, in one list for each time that it was loaded.
using LoadedRuns = std::vector<std::vector<double>>;

/// The median of all times.
double median_of(const LoadedRuns& times);

/// Returns, for each alternative, whether it has the lowest median or is not significantly slower than the one that
/// has: the 95% interval of the ratio of their times reaches down to 1. Alternatives were loaded together and ran in
/// turn.
std::vector<bool> among_fastest(std::span<const LoadedRuns> alternatives);

}  // namespace isomer
