#pragma once
// How far rounding moves the outputs of a model, and what a comparison must allow for that reason.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "isomer/eval/compare.h"

namespace isomer {

/// Returns a tensor in which every finite floating-point number, but zero, is one of its two neighbours. Numbers of
/// less than 16 bits and other elements stay. The same seed gives the same tensor on every machine.
Tensor with_last_bits_changed(const Tensor& tensor, uint64_t seed);

/// How far each output of a model moves, relative to its largest element, if only the last bits of its inputs change.
/// Another order of the same operations rounds otherwise, too, and moves it about as far. Most models move by a few
/// roundings. Some move further: a gradient, if its max pool chooses another one of two almost equal elements; and what
/// many layers one after the other compute, each of which amplifies a little.
class Movement {
 public:
  static constexpr int kTrials = 8;                  ///< changes of the inputs; a choice may need the right one
  static constexpr double kTolerance = 1e-4;         ///< what every output may differ by
  static constexpr double kLargestTolerance = 0.25;  ///< beyond it, a comparison says nothing

  /// Adds one trial. Fails if the outputs' types or number differ.
  Status account(std::span<const Tensor> moved, std::span<const Tensor> expected);
  /// Returns how far an output moves; 0 before the first trial.
  double operator[](size_t output) const { return output < furthest_.size() ? furthest_[output] : 0; }
  /// Returns the difference that an output may have, relative to its largest element.
  double tolerance(size_t output) const;

 private:
  std::vector<double> furthest_;  // by output
};

/// Returns whether an output (compared with kAnyReals) differs by at most `tolerance` or, without one, by what its
/// movement allows. `movement` is called if that matters; an Error is its Error.
Result<bool> differs_by_rounding(const OutputComparison& row, size_t output, std::optional<double> tolerance,
                                 const std::function<Result<Movement>()>& movement);

}  // namespace isomer
