#pragma once
// Measures kernel times without disturbance by other load. On machines with shared cores (an operating system in a
// virtual machine cannot see that), the same kernel may take half as long again a second later.

#include <functional>
#include <optional>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// Waits until other load ends, repeats what it disturbed, and tells how much slower the machine is if other load
/// lasts. Costs are sums of kernels that were measured at different times, so all must be measured under the same
/// conditions. The machine is quiet if a fixed amount of work takes hardly longer than the lower quartile of its times
/// so far. Not thread-safe.
class NoiseFilter {
 public:
  /// Does a fixed amount of work and returns the time that it took, in any unit.
  using Probe = std::function<double()>;
  /// Returns the time in seconds.
  using Clock = std::function<double()>;
  using Measure = std::function<Result<KernelTime>()>;

  explicit NoiseFilter(Probe probe, Clock clock = Clock());

  /// Calls `measure` when the machine is quiet. Returns how many times as long as usual that took. Returns nothing if
  /// it must be repeated, since other load began meanwhile. Waits and repeats only for a share of all time, since other
  /// load may last.
  std::optional<double> watch(const std::function<void()>& measure);
  /// Returns a measurement that is repeated as often as `watch` says, and divided by the slowdown. Fails when a
  /// measurement fails.
  Result<KernelTime> time(const Measure& measure);

 private:
  double slowdown(double probe) const;
  double next_probe();

  Probe probe_;
  Clock clock_;
  std::vector<double> probes_ = {};  // times, ascending; without those that were only waited for
  double last_probe_ = 0;            // its time
  double last_probe_end_ = 0;        // on the clock
  double patience_ = 2;              // seconds that may still be lost
};

/// Returns a probe in which this many threads multiply and add at the same time for about 0.2 ms.
NoiseFilter::Probe arithmetic_probe(int threads);

}  // namespace isomer
