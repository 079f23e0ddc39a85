#pragma once
// Cross entropies of scores and labels, and their gradients.

#include <cstdint>

namespace isomer::onednn {

/// Scores [batch, classes, pixels] of f32 in row-major order.
struct Scores {
  int64_t batch = 1;
  int64_t classes = 1;
  int64_t pixels = 1;
};

/// Computes, for each pixel, its largest score and log(sum of e^(score - largest)) over the classes. Their sum would
/// round a small loss as coarsely as the scores. NaN among the scores gives NaN as the logarithm. Uses the current
/// number of threads; the result does not depend on it.
void log_sums(const Scores& scores, const float* from, float* largest, float* logs);

/// Computes the softmax of one row of `classes` scores, each number times a factor.
void scaled_softmax(const float* from, int64_t classes, float factor, float* to);

}  // namespace isomer::onednn
