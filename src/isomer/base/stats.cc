#include "isomer/base/stats.h"

#include <algorithm>
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

/// The ratios a[i] / b[i] for positive b[i].
std::vector<double> ratios_of(std::span<const double> a, std::span<const double> b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  return ratios;
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
  double value = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    groups.push_back(ratios_of(a[i], b[i]));
    if (groups.back().empty())
      groups.pop_back();
    else
      value += median(groups.back());
  }
  const auto n = static_cast<double>(groups.size());
  value /= n;  // NaN without groups
  if (groups.empty() || resamples < 1) return {value, value, value};
  Rng rng(seed);
  std::vector<double> means;
  std::vector<double> drawn;
  for (int round = 0; round < resamples; ++round) {
    double sum = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      const size_t group = groups.size() == 1 ? 0 : rng.below(groups.size());
      sum += resampled_median(groups[group], drawn, rng);
    }
    means.push_back(sum / n);
  }
  return {value, percentile(means, 0.025), percentile(means, 0.975)};
}

}  // namespace isomer
