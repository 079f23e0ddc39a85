#pragma once
// The gradient of GridSample.

#include "isomer/ops/backward.h"

namespace isomer {

/// For the image in the modes "linear" and "nearest", for the grid in the mode "linear" (the nearest element is the
/// same almost everywhere); with the paddings "zeros" and "border". Extents must be known, and not 0. A point that is
/// NaN gives no element a gradient.
void grid_sample_gradient(Backward& node);

}  // namespace isomer
