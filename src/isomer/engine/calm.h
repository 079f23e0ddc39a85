#pragma once
// Times of kernels as they are while nothing else disturbs the machine: where its cores are shared with others, which
// an operating system within a virtual machine does not see, the same kernel takes half as long again a second later.

#include <functional>
#include <limits>

#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// Measures again what other load disturbed. Costs are sums of kernels that were measured at different moments, so they
/// must all come from moments of one kind. Not for several threads at a time.
class Calm {
 public:
  /// Some work that is always the same: the time that it took, in any unit.
  using Probe = std::function<double()>;
  using Measure = std::function<Result<KernelTime>()>;

  explicit Calm(Probe probe) : probe_(std::move(probe)) {}

  /// The first measurement before and behind which the probe took hardly longer than it ever did; without one among
  /// several, that with the shortest probes. Fails when a measurement does.
  Result<KernelTime> time(const Measure& measure);

 private:
  Probe probe_;
  double shortest_ = std::numeric_limits<double>::infinity();  // of the probe
  double first_seconds_ = 0;                                   // in measurements that were needed anyway
  double repeated_seconds_ = 0;
};

/// A probe of this many threads that multiply and add at the same time: about 0.2 ms.
Calm::Probe arithmetic_probe(int threads);

}  // namespace isomer
