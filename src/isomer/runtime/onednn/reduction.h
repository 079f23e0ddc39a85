#pragma once
// Reductions of f32 tensors over neighbouring axes.

#include <cstdint>

namespace isomer::onednn {

/// Elements [outer, count, inner] in row-major order become [outer, inner].
struct Reduction {
  enum class Kind : uint8_t { Sum, SumOfSquares, SumOfMagnitudes, Largest, Smallest };
  Kind kind = Kind::Sum;
  int64_t outer = 1;
  int64_t count = 1;
  int64_t inner = 1;
  float factor = 1;   ///< of the result, 1 / count for a mean
  bool root = false;  ///< the square root of it, at the end
};

/// With the threads that are set. Sums are taken in parts, so that rounding grows by less than the number of elements;
/// the same number of threads or another gives the same result. NaN among the elements gives NaN.
void reduce(const Reduction& reduction, const float* from, float* to);

}  // namespace isomer::onednn
