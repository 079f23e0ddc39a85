#include "isomer/ops/interpolate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isomer/ops/axis.h"
#include "isomer/ops/kernel_types.h"

namespace isomer {
namespace {

/// The position on the operand's axis for position `n` of the result.
double source_position(const std::string& mode, const ResizedAxis& axis, int64_t n) {
  const auto x = static_cast<double>(n);
  const auto in = static_cast<double>(axis.extent_in);
  const double out = axis.scale * in;  // not rounded
  if (mode == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "tf_crop_and_resize") {
    const double width = axis.roi_end - axis.roi_start;
    const double inside = out == 1 ? width * (in - 1) / 2 : x * width * (in - 1) / (out - 1);
    return inside + axis.roi_start * (in - 1);
  }
  if (mode == "pytorch_half_pixel" && axis.extent_out == 1) return 0;
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  if (mode != "half_pixel_symmetric") return half_pixel;
  const double adjustment = static_cast<double>(axis.extent_out) / out;
  return in / 2 * (1 - adjustment) + half_pixel;
}

double cubic_kernel(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The nearest position. `rule` decides for points halfway between two.
int64_t nearest(const std::string& rule, double x) {
  const double low = std::floor(x);
  if (x == low || rule == "floor") return static_cast<int64_t>(low);
  if (rule == "ceil") return static_cast<int64_t>(low) + 1;
  const double ratio = x - low;
  const bool up = rule == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5;
  return static_cast<int64_t>(low) + (up ? 1 : 0);
}

/// The samples of one position, ignoring the ends of the axis. `stretch` widens the kernel (antialiasing).
std::vector<Sample> kernel_samples(InterpolationMode mode, double x, double stretch, double a) {
  const double reach = (mode == InterpolationMode::Linear ? 1 : 2) / stretch;
  std::vector<Sample> samples;
  double total = 0;
  const auto first = static_cast<int64_t>(std::floor(x - reach)) + 1;
  for (int64_t at = first; static_cast<double>(at) < x + reach; ++at) {
    const double distance = (static_cast<double>(at) - x) * stretch;
    const double weight =
        mode == InterpolationMode::Linear ? std::max(0.0, 1 - std::abs(distance)) : cubic_kernel(distance, a);
    samples.push_back({at, weight});
    total += weight;
  }
  if (stretch != 1)
    for (Sample& sample : samples) sample.weight /= total;
  return samples;
}

/// Removes samples beyond the ends (and rescales the other weights), or moves them to the ends.
void fit_samples(std::vector<Sample>& samples, int64_t extent, bool exclude_outside) {
  if (exclude_outside) {
    std::erase_if(samples, [&](const Sample& sample) { return sample.at < 0 || sample.at >= extent; });
    double total = 0;
    for (const Sample& sample : samples) total += sample.weight;
    for (Sample& sample : samples) sample.weight /= total == 0 ? 1 : total;
  }
  for (Sample& sample : samples) sample.at = std::clamp<int64_t>(sample.at, 0, extent - 1);
}

/// x with one axis interpolated.
template <class T>
std::vector<T> along_axis(const std::vector<T>& x, const std::vector<int64_t>& dims, size_t axis,
                          const AxisSamples& samples, T outside) {
  const AxisSplit split = axis_split(dims, static_cast<int64_t>(axis));
  std::vector<T> y;
  y.reserve(static_cast<size_t>(split.outer * split.inner) * samples.size());
  for (int64_t o = 0; o < split.outer; ++o) {
    for (const auto& position : samples) {
      for (int64_t i = 0; i < split.inner; ++i) {
        T sum = position.empty() ? outside : T(0);
        for (const Sample& sample : position)
          sum += scalar<T>(sample.weight) * x[static_cast<size_t>(split.start(o, i) + sample.at * split.inner)];
        y.push_back(sum);
      }
    }
  }
  return y;
}

}  // namespace

Result<InterpolationMode> interpolation_mode(const std::string& name) {
  if (name == "nearest") return InterpolationMode::Nearest;
  if (name == "linear") return InterpolationMode::Linear;
  if (name == "cubic") return InterpolationMode::Cubic;
  return fail("unknown interpolation mode '{}'", name);
}

Status check_coordinate_mode(const std::string& name) {
  for (const char* known : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                            "tf_crop_and_resize"})
    if (name == known) return {};
  return fail("unknown coordinate transformation mode '{}'", name);
}

Status check_nearest_mode(const std::string& name) {
  for (const char* known : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
    if (name == known) return {};
  return fail("unknown nearest mode '{}'", name);
}

std::array<double, 4> cubic_weights(double ratio, double a) {
  return {cubic_kernel(ratio + 1, a), cubic_kernel(ratio, a), cubic_kernel(1 - ratio, a), cubic_kernel(2 - ratio, a)};
}

Result<AxisSamples> resize_samples(const Attrs& attrs, const ResizedAxis& axis) {
  ISOMER_TRY(const InterpolationMode mode, interpolation_mode(attrs.text("mode")));
  const std::string& coordinates = attrs.text("coordinate_transformation_mode");
  const bool exclude_outside = attrs.integer("exclude_outside") != 0;
  const double stretch = attrs.integer("antialias") != 0 ? std::min(axis.scale, 1.0) : 1.0;
  // The kernel covers 4 / stretch elements of the operand. More than a few times the whole axis is not a useful
  // request.
  if (4 / stretch > 1e6 + 16 * static_cast<double>(axis.extent_in)) return fail("Resize by the scale {}", axis.scale);
  AxisSamples samples;
  for (int64_t n = 0; n < axis.extent_out; ++n) {
    const double x = source_position(coordinates, axis, n);
    if (!(std::abs(x) < 1e15)) return fail("Resize by the scale {}", axis.scale);
    const bool outside = coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.extent_in - 1));
    std::vector<Sample> position;
    if (!outside) {
      if (mode == InterpolationMode::Nearest)
        position = {{nearest(attrs.text("nearest_mode"), x), 1}};
      else
        position = kernel_samples(mode, x, stretch, attrs.real("cubic_coeff_a"));
      fit_samples(position, axis.extent_in, exclude_outside && mode != InterpolationMode::Nearest);
    }
    samples.push_back(std::move(position));
  }
  return samples;
}

Status interpolate(KernelContext& context, const std::vector<AxisSamples>& samples, float outside) {
  const Tensor& x = context.operands[0];
  return for_numeric(x.dtype(), [&]<class T>() {
    if (element_count(*context.types[0].shape).is(0)) {
      new_result(context);
      return;
    }
    // Integers up to 32 bits and float are exact in double.
    using Real = std::conditional_t<std::is_same_v<T, Fp>, Fp, double>;
    const auto from = x.data<T>();
    std::vector<Real> values;
    for (const T& v : from) values.push_back(static_cast<Real>(v));
    auto dims = x.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (samples[axis].empty()) continue;
      values = along_axis<Real>(values, dims, axis, samples[axis], scalar<Real>(outside));
      dims[axis] = static_cast<int64_t>(samples[axis].size());
    }
    const auto to = new_result(context).template mutable_data<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
        constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
        to[i] =
            values[i] >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(values[i] >= kLow ? values[i] : kLow);
        if constexpr (std::is_same_v<T, int64_t>) to[i] = nearest_stored(to[i], context.stored_dtype(0));
      } else {
        to[i] = static_cast<T>(values[i]);
      }
    }
  });
}

}  // namespace isomer
