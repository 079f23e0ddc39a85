#pragma once
// Order statistics of measurements: latencies have long tails, so everything here is built on the median.

#include <cstdint>
#include <span>
#include <vector>

namespace isomer {

/// The value below which a share `p` (0 to 1) of the samples lies, interpolated linearly; NaN without samples.
double percentile(std::span<const double> samples, double p);

/// percentile(samples, 0.5)
double median(std::span<const double> samples);

/// The mean of the lower half of the samples without their lowest tenth: other load on the machine only ever adds to a
/// time. There must be samples.
double robust_mean(std::vector<double> samples);

/// The mean of the samples without this share of them (below one half) at either end. There must be samples.
double trimmed_mean(std::vector<double> samples, double share);

/// An estimate with its 95% interval.
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Median of the ratios a[i] / b[i] of paired measurements, with the bootstrap interval of that median. Pairs with a
/// b that is not positive are left out; samples beyond the shorter list too. All NaN without pairs. Same seed, same
/// interval.
Interval paired_ratio(std::span<const double> a, std::span<const double> b, uint64_t seed = 1, int resamples = 2000);

/// As paired_ratio for measurements in groups (one for each time that the models were loaded): the mean over the groups
/// of the median ratio, with its two-stage bootstrap interval (groups, then pairs within them). Where memory happens to
/// lie shifts a whole group by some percent; an interval within one group does not see that, this one does.
Interval grouped_ratio(std::span<const std::vector<double>> a, std::span<const std::vector<double>> b,
                       uint64_t seed = 1, int resamples = 2000);

}  // namespace isomer
