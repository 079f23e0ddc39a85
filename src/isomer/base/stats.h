#pragma once
// Statistics of measurements. Latencies have long tails, so everything here is based on the median or a trimmed mean.

#include <cstdint>
#include <span>
#include <vector>

namespace isomer {

/// The value below which a fraction `p` (0 to 1) of the samples lies, by linear interpolation; NaN without samples.
double percentile(std::span<const double> samples, double p);

/// percentile(samples, 0.5)
double median(std::span<const double> samples);

/// The mean of the lower half of the samples, without the lowest tenth: other load on the machine can only increase a
/// time. `samples` must not be empty.
double robust_mean(std::vector<double> samples);

/// The mean of the samples without a fraction `share` (below 0.5) at each end. `samples` must not be empty.
double trimmed_mean(std::vector<double> samples, double share);

/// Spearman's rank correlation of paired values: 1 if they have the same order, -1 if they have the inverse one. Equal
/// values share the mean of their ranks. NaN if either list is constant. The lists must be of equal length.
double rank_correlation(std::span<const double> a, std::span<const double> b);

/// An estimate with its 95% confidence interval.
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// The ratios a[i] / b[i] of paired measurements in groups (one group for each time that the models were loaded).
/// Returns the median over the groups of the median ratio, with its two-stage bootstrap interval (groups, then pairs
/// within them). The place of data in memory shifts a whole group by some percent. An interval within one group cannot
/// show that; this interval does. A group that other load on the machine spoilt makes the interval wide, but does not
/// move the value. Between two middle ratios the value is their geometric mean, so that b / a has the inverse result.
/// Pairs with a sample that is not positive are ignored, as are samples beyond the shorter list. All values are NaN
/// without pairs. The same seed gives the same interval.
Interval grouped_ratio(std::span<const std::vector<double>> a, std::span<const std::vector<double>> b,
                       uint64_t seed = 1, int resamples = 2000);

}  // namespace isomer
