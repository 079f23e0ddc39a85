#pragma once
// Reductions of f32 tensors over adjacent axes.

#include <cstdint>

namespace isomer::onednn {

/// Reduces elements [outer, count, inner] in row-major order to [outer, inner].
struct Reduction {
  enum class Kind : uint8_t { Sum, SumOfSquares, SumOfMagnitudes, Largest, Smallest };
  Kind kind = Kind::Sum;
  int64_t outer = 1;
  int64_t count = 1;
  int64_t inner = 1;
  float factor = 1;   ///< of the result, 1 / count for a mean
  bool root = false;  ///< take the square root at the end
};

/// Uses the current number of threads. Sums are computed in parts, so that the rounding error grows more slowly than
/// the number of elements. The result does not depend on the number of threads. NaN among the elements gives NaN.
void reduce(const Reduction& reduction, const float* from, float* to);

}  // namespace isomer::onednn
