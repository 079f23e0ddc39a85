#include "isomer/base/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// As percentile(), but reorders `samples` instead of sorting a copy.
double select_percentile(std::vector<double>& samples, double p) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(at);
  const auto nth = samples.begin() + static_cast<ptrdiff_t>(below);
  std::nth_element(samples.begin(), nth, samples.end());
  const double low = *nth;
  const double part = at - static_cast<double>(below);
  if (part == 0) return low;
  // Elements after `nth` are not smaller, so the next sample in order is their minimum.
  return low + part * (*std::min_element(nth + 1, samples.end()) - low);
}

}  // namespace

double percentile(std::span<const double> samples, double p) {
  std::vector<double> copy(samples.begin(), samples.end());
  return select_percentile(copy, p);
}

double robust_mean(std::vector<double> samples) {
  std::ranges::sort(samples);
  const size_t first = samples.size() / 10, last = (samples.size() + 1) / 2;
  double sum = 0;
  for (size_t i = first; i < last; ++i) sum += samples[i];
  return sum / static_cast<double>(last - first);
}

double trimmed_mean(std::vector<double> samples, double share) {
  std::ranges::sort(samples);
  const auto cut = static_cast<size_t>(share * static_cast<double>(samples.size()));
  const auto rest = std::span(samples).subspan(cut, samples.size() - 2 * cut);
  return std::accumulate(rest.begin(), rest.end(), 0.0) / static_cast<double>(rest.size());
}

double median(std::span<const double> samples) { return percentile(samples, 0.5); }

namespace {

/// Returns the rank of each value, from 0; equal values have the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::vector<double> out;
  for (const double value : values) {
    const auto first = std::ranges::lower_bound(sorted, value), end = std::ranges::upper_bound(sorted, value);
    out.push_back(0.5 * static_cast<double>((first - sorted.begin()) + (end - sorted.begin()) - 1));
  }
  return out;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double middle = 0.5 * (static_cast<double>(x.size()) - 1);
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
    xy += (x[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

namespace {

/// The logarithms of the ratios a[i] / b[i] of positive samples.
std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b) {
  std::vector<double> logs;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] > 0 && b[i] > 0) logs.push_back(std::log(a[i] / b[i]));
  return logs;
}

double resampled_median(const std::vector<double>& samples, std::vector<double>& drawn, Rng& rng) {
  drawn.resize(samples.size());
  for (double& value : drawn) value = samples[rng.below(samples.size())];
  return select_percentile(drawn, 0.5);
}

}  // namespace

Interval grouped_ratio(std::span<const std::vector<double>> a, std::span<const std::vector<double>> b, uint64_t seed,
                       int resamples) {
  std::vector<std::vector<double>> groups;
  std::vector<double> medians;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    std::vector<double> logs = log_ratios(a[i], b[i]);
    if (logs.empty()) continue;
    medians.push_back(median(logs));
    groups.push_back(std::move(logs));
  }
  const double value = std::exp(median(medians));  // NaN without groups
  if (groups.empty() || resamples < 1) return {value, value, value};
  Rng rng(seed);
  std::vector<double> estimates;
  std::vector<double> drawn;
  for (int round = 0; round < resamples; ++round) {
    for (double& one : medians) {
      const size_t group = groups.size() == 1 ? 0 : rng.below(groups.size());
      one = resampled_median(groups[group], drawn, rng);
    }
    estimates.push_back(select_percentile(medians, 0.5));
  }
  return {value, std::exp(percentile(estimates, 0.025)), std::exp(percentile(estimates, 0.975))};
}

}  // namespace isomer
