#include "isomer/repro/taso/among_fastest.h"

#include <algorithm>

#include "isomer/base/stats.h"

namespace isomer {

double median_of(const LoadedRuns& times) {
  std::vector<double> all;
  for (const std::vector<double>& runs : times) all.insert(all.end(), runs.begin(), runs.end());
  return median(all);
}

std::vector<bool> among_fastest(std::span<const LoadedRuns> alternatives) {
  std::vector<bool> out;
  if (alternatives.empty()) return out;
  const LoadedRuns& fastest = *std::ranges::min_element(alternatives, {}, median_of);
  for (const LoadedRuns& one : alternatives) out.push_back(grouped_ratio(one, fastest).low <= 1);
  return out;
}

}  // namespace isomer
