#pragma once
// What a generator of instances may still try, and in which order.

#include "isomer/base/rng.h"
#include "isomer/verify/instances.h"

namespace isomer {

/// Counts the choices that were tried, orders those that come, and keeps within the bounds on special ones.
class ChoiceBudget {
 public:
  /// What a choice adds to the counts that are bounded.
  struct Cost {
    size_t odd = 0;      ///< attributes other than plain
    size_t numbers = 0;  ///< of them, those that proofs are general in
    size_t others = 0;   ///< extents other than 2
  };

  ChoiceBudget(const InstanceBounds& bounds, size_t max_steps)
      : bounds_(bounds), max_steps_(max_steps), rng_(bounds.sample) {}

  /// Counts one choice; false when there may be no more.
  bool step() {
    if (++steps_ > max_steps_) stopped_ = true;
    return !stopped_;
  }
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  /// Runs `next` with this much spent, unless that is beyond the bounds.
  template <class Next>
  void spend(const Cost& cost, const Next& next) {
    const Cost before = spent_;
    spent_ = {before.odd + cost.odd, before.numbers + cost.numbers, before.others + cost.others};
    if (spent_.odd <= bounds_.max_odd && spent_.numbers <= bounds_.max_odd_numbers &&
        spent_.others <= bounds_.max_others)
      next();
    spent_ = before;
  }

  /// 0, 1, ..., n - 1; for a sample, three of them at random.
  std::vector<size_t> order(size_t n);

 private:
  static constexpr size_t kSampleWidth = 3;
  const InstanceBounds& bounds_;
  const size_t max_steps_;
  size_t steps_ = 0;
  bool stopped_ = false;
  Cost spent_;
  Rng rng_;
};

}  // namespace isomer
