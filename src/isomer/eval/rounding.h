#pragma once
// How far rounding moves the outputs of a model, and what a comparison must allow for that reason.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "isomer/eval/compare.h"

namespace isomer {

/// Returns a tensor in which every finite number of 32 bits or more, but zero, is one of its two neighbours. Other
/// elements stay. The same seed gives the same tensor on every machine.
Tensor with_last_bits_changed(const Tensor& tensor, uint64_t seed);

/// How far each output of a model moves, relative to its largest element, if only the last bits of its inputs change.
/// Operations in another order round differently, which moves outputs, too. Most models move by a few roundings. Some
/// move further: a gradient, if its max pool chooses another one of two almost equal elements; and what many layers
/// compute one after the other, each of which amplifies a little. Some outputs are noise, nothing but rounding errors
/// of much larger numbers: the gradient of a bias in front of a normalization, or that of an attention's keys, is 0.
class Movement {
 public:
  static constexpr int kTrials = 8;                  ///< the maximum; a max pool may change its choice in few of them
  static constexpr double kTolerance = 1e-4;         ///< what every output may differ by
  static constexpr double kLargestTolerance = 0.25;  ///< only noise may differ by more

  /// Adds one trial. Outputs of other types or extents than expected do not count. Fails if their number differs.
  Status account(std::span<const Tensor> moved, std::span<const Tensor> expected);
  int trials() const { return trials_; }
  /// Returns how far an element of an output moves at most; 0 before the first trial.
  double operator[](size_t output) const { return output < max_.size() ? max_[output] : 0; }
  /// Returns the difference that an element of an output may have, relative to the largest.
  double tolerance(size_t output) const;
  /// Returns whether an output differs by no more than its movement explains. Both the largest difference and the mean
  /// one must be explained: where one element moves far, not all of them may differ. If the elements of an output move
  /// in each trial about as far as they are large, and may_be_noise(), it is noise, and may be any noise.
  bool explains(size_t output, const Comparison& comparison) const;

 private:
  int trials_ = 0;
  std::vector<double> max_, mean_, min_mean_;  // over the trials, by output
};

/// Adds a trial to a movement.
using MoveOnce = std::function<Status(Movement&)>;

/// Returns whether an output consists, in both, of numbers that may be rounding errors: below 2^-20 of what the largest
/// elements of the outputs are in the median.
bool may_be_noise(size_t output, const Comparison& comparison);

/// Returns whether an output (all of which were compared with kAnyReals) differs by at most `tolerance` or, without
/// one, by no more than its movement explains. Trials are added while that is not so, up to kTrials; an Error is that
/// of a trial.
Result<bool> differs_by_rounding(size_t output, const Comparison& comparison, std::optional<double> tolerance,
                                 Movement& movement, const MoveOnce& move);

}  // namespace isomer
