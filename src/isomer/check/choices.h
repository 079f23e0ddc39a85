#pragma once
// Controls which choices a generator of instances may still try, and in which order.

#include <numeric>

#include "isomer/base/rng.h"
#include "isomer/check/instances.h"

namespace isomer {

/// Counts the choices that were tried, orders the next ones, and bounds the number of unusual ones.
class ChoiceBudget {
 public:
  /// The increment of each bounded count by one choice.
  struct Cost {
    size_t non_default = 0;  ///< attributes that are not plain
    size_t numbers = 0;      ///< those of them that proofs treat as unknown (generality.h)
    size_t others = 0;       ///< extents other than 2
  };

  ChoiceBudget(const InstanceBounds& bounds, size_t max_steps)
      : bounds_(bounds), max_steps_(max_steps), rng_(bounds.sample) {}

  /// Counts one choice; returns false if no more are allowed.
  bool step() {
    if (++steps_ > max_steps_) stopped_ = true;
    return !stopped_;
  }
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  /// Runs `next` with this cost added, unless that exceeds the bounds.
  template <class Next>
  void spend(const Cost& cost, const Next& next) {
    const Cost before = spent_;
    spent_ = {before.non_default + cost.non_default, before.numbers + cost.numbers, before.others + cost.others};
    if (spent_.non_default <= bounds_.max_non_default && spent_.numbers <= bounds_.max_non_default_numbers &&
        spent_.others <= bounds_.max_others)
      next();
    spent_ = before;
  }

  /// Returns 0, 1, ..., n - 1; for a sample, three of them at random.
  std::vector<size_t> order(size_t n) {
    std::vector<size_t> out(n);
    std::iota(out.begin(), out.end(), 0);
    if (bounds_.sample == 0) return out;
    for (size_t i = n; i > 1; --i) std::swap(out[i - 1], out[rng_.below(i)]);
    if (out.size() > kSampleWidth) out.resize(kSampleWidth);
    return out;
  }

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
