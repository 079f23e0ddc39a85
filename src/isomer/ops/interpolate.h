#pragma once
// Interpolation along axes: which elements of an axis a new position is made of, and with what weights.

#include <array>
#include <string>

#include "isomer/ops/kernel.h"

namespace isomer {

enum class InterpolationMode : uint8_t { Nearest, Linear, Cubic };

/// The mode of Resize's attribute `mode`; an Error for other names.
Result<InterpolationMode> interpolation_mode(const std::string& name);
/// Fail for names that ONNX does not have.
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

/// One element that goes into a new position, with its weight.
struct Sample {
  int64_t at;
  double weight;
};

/// The samples of each position of an axis; no positions: the axis stays as it is. A position outside of what there is
/// to interpolate has no samples.
using AxisSamples = std::vector<std::vector<Sample>>;

/// The samples that Resize's attributes ask for; extent_in and extent_out are positive.
Result<AxisSamples> resize_samples(const Attrs& attrs, const ResizedAxis& axis);

/// Appends the interpolated operand 0. Positions without samples get `outside`. Integers are computed as real numbers
/// and rounded toward zero.
Status interpolate(KernelContext& context, const std::vector<AxisSamples>& samples, float outside);

/// The weights of the four neighbours of a point at `ratio` behind the second (cubic convolution).
std::array<double, 4> cubic_weights(double ratio, double a);

}  // namespace isomer
