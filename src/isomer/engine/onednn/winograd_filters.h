#pragma once
// The gradient for filters of 3 x 3 by Winograd's algorithm: that of F(4 x 4, 3 x 3) with the transposed
// transformations. Tiles of the image and of the result's gradient are transformed, products of both are added up over
// all tiles, and the sums are transformed to filters. A quarter of the direct algorithm's multiplications remain.

#include <cstdint>

#include "isomer/engine/onednn/winograd.h"

namespace isomer::onednn {

/// Returns the number of floats of scratch memory for this number of parts.
int64_t winograd_filters_scratch(const WinogradConv& conv, int parts);

struct WinogradFilterArguments {
  const float* image = nullptr;     ///< in blocks
  const float* gradient = nullptr;  ///< of the convolution's result, in blocks
  float* filters = nullptr;         ///< row-major: by channel of the result, by channel of the image
  float* scratch = nullptr;
};
/// Computes the gradient for the filters of a convolution that is not transposed, in `parts` parts, which the current
/// number of threads share. The sums depend on the number of parts as far as rounding goes.
void run_winograd_filters(const WinogradConv& conv, const WinogradFilterArguments& arguments, int parts);

}  // namespace isomer::onednn
