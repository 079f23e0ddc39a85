#pragma once
// Interpolation along axes: the elements of an axis, and their weights, from which a new position is computed.

#include <array>
#include <string>

#include "isomer/ops/kernel.h"

namespace isomer {

enum class InterpolationMode : uint8_t { Nearest, Linear, Cubic };

/// The mode for Resize's attribute `mode`. Fails for unknown names.
Result<InterpolationMode> interpolation_mode(const std::string& name);
/// Fail for unknown names.
Status check_coordinate_mode(const std::string& name);
Status check_nearest_mode(const std::string& name);

/// One axis that is resized.
struct ResizedAxis {
  int64_t extent_in = 0;
  int64_t extent_out = 0;
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;
};

/// One element that contributes to a new position, with its weight.
struct Sample {
  int64_t at;
  double weight;
};

/// The samples of each position of an axis. Without positions, the axis is unchanged. A position outside of the range
/// of interpolation has no samples.
using AxisSamples = std::vector<std::vector<Sample>>;

/// The samples for Resize's attributes. extent_in and extent_out must be positive.
Result<AxisSamples> resize_samples(const Attrs& attrs, const ResizedAxis& axis);

/// Appends operand 0 after interpolation. Positions without samples become `outside`. Integers are computed as real
/// numbers and rounded toward zero.
Status interpolate(KernelContext& context, const std::vector<AxisSamples>& samples, float outside);

/// The weights of the four neighbors of a point that is `ratio` after the second one (cubic convolution).
std::array<double, 4> cubic_weights(double ratio, double a);

}  // namespace isomer
