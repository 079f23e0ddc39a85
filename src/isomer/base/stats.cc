#include "isomer/base/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// As percentile(), reordering `samples` instead of sorting a copy of them.
double select_percentile(std::vector<double>& samples, double p) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(at);
  const auto nth = samples.begin() + static_cast<ptrdiff_t>(below);
  std::nth_element(samples.begin(), nth, samples.end());
  const double low = *nth;
  const double part = at - static_cast<double>(below);
  if (part == 0) return low;
  // What nth_element left behind `nth` is not smaller, so the next sample in order is the least of it.
  return low + part * (*std::min_element(nth + 1, samples.end()) - low);
}

}  // namespace

double percentile(std::span<const double> samples, double p) {
  std::vector<double> copy(samples.begin(), samples.end());
  return select_percentile(copy, p);
}

double median(std::span<const double> samples) { return percentile(samples, 0.5); }

Interval paired_ratio(std::span<const double> a, std::span<const double> b, uint64_t seed, int resamples) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  }
  const double value = median(ratios);
  if (ratios.empty()) return {value, value, value};

  Rng rng(seed);
  std::vector<double> medians;
  std::vector<double> drawn(ratios.size());
  for (int round = 0; round < resamples; ++round) {
    for (double& ratio : drawn) ratio = ratios[rng.below(ratios.size())];
    medians.push_back(select_percentile(drawn, 0.5));
  }
  if (medians.empty()) return {value, value, value};
  return {value, percentile(medians, 0.025), percentile(medians, 0.975)};
}

}  // namespace isomer
