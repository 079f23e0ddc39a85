#pragma once
// Measures kernel times without disturbance by other load. On machines with shared cores (an operating system in a
// virtual machine cannot see that), the same kernel may take half as long again a second later.

#include <functional>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// Waits until other load ends, and repeats measurements that it disturbed. Costs are sums of kernels that were
/// measured at different times, so all must be measured under the same conditions. Not thread-safe.
class NoiseFilter {
 public:
  /// Does a fixed amount of work and returns the time that it took, in any unit.
  using Probe = std::function<double()>;
  using Measure = std::function<Result<KernelTime>()>;

  explicit NoiseFilter(Probe probe) : probe_(std::move(probe)) {}

  /// Returns the first measurement before and after which the probe was hardly slower than a quarter of its times so
  /// far. If there is none after several tries, returns the one with the fastest probes, and divides it by the slowdown
  /// that follows from them. Waits and tries only for a share of the time of all measurements, since other load may
  /// last. Fails when a measurement fails.
  Result<KernelTime> time(const Measure& measure);

 private:
  /// Returns how many times as long as usual kernels take when a probe takes so long; 1 if the machine is quiet.
  double slowdown(double probe) const;
  double next_probe();
  double probe_when_quiet();

  Probe probe_;
  std::vector<double> probes_ = {};  // times, ascending; without those that were only waited for
  size_t waited_ = 0;                // number of those
  double first_seconds_ = 0;         // of first measurements, which were needed anyway
  double repeated_seconds_ = 0;
};

/// Returns a probe in which this many threads multiply and add at the same time for about 0.2 ms.
NoiseFilter::Probe arithmetic_probe(int threads);

}  // namespace isomer
