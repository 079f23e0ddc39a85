#pragma once
// What a generator of instances may still try, and in which order.

#include "isomer/base/rng.h"
#include "isomer/verify/instances.h"

namespace isomer {

/// Counts the choices that were tried, and orders those that come.
class ChoiceBudget {
 public:
  ChoiceBudget(const InstanceBounds& bounds, size_t max_steps)
      : sampled_(bounds.sample != 0), max_steps_(max_steps), rng_(bounds.sample) {}

  /// Counts one choice; false when there may be no more.
  bool step() {
    if (++steps_ > max_steps_) stopped_ = true;
    return !stopped_;
  }
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  /// 0, 1, ..., n - 1; for a sample, three of them at random.
  std::vector<size_t> order(size_t n);

 private:
  static constexpr size_t kSampleWidth = 3;
  const bool sampled_;
  const size_t max_steps_;
  size_t steps_ = 0;
  bool stopped_ = false;
  Rng rng_;
};

}  // namespace isomer
