#pragma once
// Logarithms of sums of exponentials, of which cross entropies consist.

#include <cstdint>

namespace isomer::onednn {

/// Scores [batch, classes, pixels] of f32 in row-major order.
struct Scores {
  int64_t batch = 1;
  int64_t classes = 1;
  int64_t pixels = 1;
};

/// Computes, for each pixel, its largest score and log(sum of e^(score - largest)) over the classes. The sum of both
/// would lose the digits of a small loss. NaN among the scores gives NaN as the logarithm. Uses the current number of
/// threads; the result does not depend on it.
void log_sums(const Scores& scores, const float* from, float* largest, float* logs);

}  // namespace isomer::onednn
