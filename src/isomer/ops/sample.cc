// GridSample and AffineGrid: images read at computed points.

#include <algorithm>
#include <cmath>

#include "isomer/ops/form_params.h"
#include "isomer/ops/indices.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/interpolate.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/sample_gradient.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_grid_sample(const OpView& view) {
  ISOMER_CHECK(interpolation_mode(view.attrs.text("mode")));
  const std::string& padding = view.attrs.text("padding_mode");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return fail("GridSample with the unknown padding '{}'", padding);
  const size_t rank = view.rank(0);
  if (rank < 3) return fail("GridSample of {}", view.type(0).str());
  ISOMER_CHECK(want_rank(view, 1, rank));
  const Shape& grid = view.shape(1);
  if (differ(grid[0], view.shape(0)[0]) || differ(grid[rank - 1], Dim(static_cast<int64_t>(rank - 2))))
    return fail("GridSample of {} at {}", view.type(0).str(), view.type(1).str());
  Shape shape{view.shape(0)[0], view.shape(0)[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// Reads one axis for GridSample.
struct AxisReader {
  InterpolationMode mode;
  std::string padding;
  bool align_corners;
  int64_t extent;

  /// The borders of the image.
  double low() const { return align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(extent) - (align_corners ? 1 : 0.5); }

  /// x, mirrored at the borders until it is between them.
  double reflected(double x) const {
    const double low = this->low();
    const double high = this->high();
    const double range = high - low;
    if (range <= 0) return low;
    const double beyond = x < low ? low - x : x - high;
    if (beyond <= 0) return x;
    const double turns = std::floor(beyond / range);
    const double rest = beyond - turns * range;
    const bool at_low = (x < low) == (std::fmod(turns, 2) == 0);
    return at_low ? low + rest : high - rest;
  }

  /// The index of the element at an integral position, or -1 if there is none.
  int64_t element(double at) const {
    if (padding == "reflection") at = std::trunc(reflected(at));
    if (padding == "zeros" && (at < 0 || at >= static_cast<double>(extent))) return -1;
    return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(extent - 1)));
  }

  /// The samples at coordinate `n` in [-1, 1]. G is the type in which ONNX computes the position.
  template <class G>
  std::vector<Sample> samples(G n) const {
    const G length = static_cast<G>(extent);
    double x = align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
    x = std::isnan(x) ? -1e9 : std::clamp(x, -1e9, 1e9);
    if (mode == InterpolationMode::Nearest) x = std::nearbyint(x);
    if (padding == "border" && (x < low() || x > high())) x = std::clamp(x, 0.0, static_cast<double>(extent - 1));
    if (padding == "reflection") x = reflected(x);
    if (mode == InterpolationMode::Nearest) return {{element(std::trunc(x)), 1}};
    const double low = std::floor(x);
    if (mode == InterpolationMode::Linear) return {{element(low), 1 - (x - low)}, {element(low + 1), x - low}};
    const auto weights = cubic_weights(x - low, -0.75);
    std::vector<Sample> out;
    for (size_t i = 0; i < 4; ++i) out.push_back({element(low - 1 + static_cast<double>(i)), weights[i]});
    return out;
  }
};

/// One element of a row-major image: the weighted sum over all combinations of its axes' samples.
template <class T>
T combine(const T* image, const std::vector<std::vector<Sample>>& axes, const std::vector<int64_t>& strides,
          size_t axis = 0, int64_t offset = 0) {
  if (axis == axes.size()) return image[offset];
  T sum(0);
  for (const Sample& sample : axes[axis])
    if (sample.at >= 0)
      sum +=
          static_cast<T>(sample.weight) * combine(image, axes, strides, axis + 1, offset + sample.at * strides[axis]);
  return sum;
}

template <class T, class G>
Status sample_grid(KernelContext& context) {
  const auto& dims = context.operands[0].dims();
  const std::vector<int64_t> image_dims(dims.begin() + 2, dims.end());
  const size_t rank = image_dims.size();
  ISOMER_TRY(const InterpolationMode mode, interpolation_mode(context.attrs.text("mode")));
  std::vector<AxisReader> readers;
  readers.reserve(rank);
  for (const int64_t extent : image_dims)
    readers.push_back({mode, context.attrs.text("padding_mode"), context.attrs.integer("align_corners") != 0, extent});
  Tensor& y = new_result(context);
  if (y.element_count() == 0) return {};
  if (std::find(image_dims.begin(), image_dims.end(), 0) != image_dims.end())
    return fail("GridSample of an image without elements");
  const auto strides = strides_of(image_dims);
  const int64_t image_size = extent_product(image_dims, 0, rank);
  const int64_t points = extent_product(y.dims(), 2, y.dims().size());
  const auto grid = context.operands[1].data<G>();
  const auto x = context.operands[0].data<T>();
  const auto to = y.mutable_data<T>();
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t p = 0; p < points; ++p) {
      std::vector<std::vector<Sample>> axes;
      const size_t at = static_cast<size_t>(n * points + p) * rank;
      // The grid lists the innermost axis first.
      for (size_t i = 0; i < rank; ++i) axes.push_back(readers[i].samples(grid[at + rank - 1 - i]));
      for (int64_t c = 0; c < dims[1]; ++c) {
        const int64_t image = n * dims[1] + c;
        to[static_cast<size_t>(image * points + p)] = combine(x.data() + image * image_size, axes, strides);
      }
    }
  }
  return {};
}

Status grid_sample_kernel(KernelContext& context) {
  const DType x = context.operands[0].dtype();
  const DType grid = context.operands[1].dtype();
  if (context.operands[0].dims().size() > 18) return fail("GridSample of {}", context.operands[0].type().str());
  if (x == DType::Float && grid == DType::Float) return sample_grid<float, float>(context);
  if (x == DType::Float && grid == DType::Double) return sample_grid<float, double>(context);
  if (x == DType::Double && grid == DType::Float) return sample_grid<double, float>(context);
  if (x == DType::Double && grid == DType::Double) return sample_grid<double, double>(context);
  return fail("the reference kernel of GridSample does not compute on {} at {}", dtype_name(x), dtype_name(grid));
}

double grid_sample_flops(const WorkView& view) {
  const std::string& mode = view.attrs.text("mode");
  if (mode == "nearest") return 0;
  const auto axes = static_cast<double>(view.results[0].size()) - 2;
  return 2 * std::pow(mode == "linear" ? 2 : 4, axes) * count(view.results[0]);
}

/// Opset 20 renamed the modes.
Status rename_mode(OnnxForm& form, const std::vector<std::pair<std::string, std::string>>& names) {
  const auto* mode = form.get<std::string>("mode");
  if (mode == nullptr) return {};
  for (const auto& [from, to] : names) {
    if (*mode != from) continue;
    form.attrs["mode"] = to;
    break;
  }
  return {};
}

Status grid_sample_from_onnx(OnnxForm& form) {
  return rename_mode(form, {{"bilinear", "linear"}, {"bicubic", "cubic"}});
}

Status grid_sample_to_onnx(OnnxForm& form) {
  return form.opset >= 20 ? Status() : rename_mode(form, {{"linear", "bilinear"}, {"cubic", "bicubic"}});
}

Result<std::vector<TensorType>> infer_affine_grid(const OpView& view) {
  const Ints& size = view.attrs.ints("size");
  if (size.size() != 4 && size.size() != 5) return fail("AffineGrid of {} extents", size.size());
  if (std::any_of(size.begin(), size.end(), [](int64_t extent) { return extent < 1; }))
    return fail("AffineGrid of an extent below 1");
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  ISOMER_CHECK(want_rank(view, 0, 3));
  const Shape& theta = view.shape(0);
  if (differ(theta[0], Dim(size[0])) || differ(theta[1], Dim(axes)) || differ(theta[2], Dim(axes + 1)))
    return fail("AffineGrid of {} extents with {}", size.size(), view.type(0).str());
  Shape shape{Dim(size[0])};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.emplace_back(axes);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status affine_grid_kernel(KernelContext& context) {
  const Ints& size = context.attrs.ints("size");
  const std::vector<int64_t> extents(size.begin() + 2, size.end());
  const bool align_corners = context.attrs.integer("align_corners") != 0;
  const auto coordinate = [&](int64_t at, int64_t extent) {
    const auto d = static_cast<double>(extent);
    if (!align_corners) return (2 * static_cast<double>(at) + 1) / d - 1;
    return extent == 1 ? 0 : 2 * static_cast<double>(at) / (d - 1) - 1;
  };
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    const auto theta = context.operands[0].data<T>();
    const auto to = new_result(context).template mutable_data<T>();
    const size_t axes = extents.size();
    const auto strides = strides_of(extents);
    const int64_t points = extent_product(extents, 0, axes);
    size_t out = 0;
    for (size_t n = 0; n < static_cast<size_t>(size[0]); ++n) {
      for (int64_t p = 0; p < points; ++p) {
        for (size_t row = 0; row < axes; ++row) {
          const size_t first = (n * axes + row) * (axes + 1);
          T sum = theta[first + axes];
          for (size_t k = 0; k < axes; ++k) {  // x is the innermost axis
            const size_t axis = axes - 1 - k;
            sum += theta[first + k] * scalar<T>(coordinate(p / strides[axis] % extents[axis], extents[axis]));
          }
          to[out++] = sum;
        }
      }
    }
  });
}

double affine_grid_flops(const WorkView& view) {
  return 2 * static_cast<double>(view.results[0].back()) * count(view.results[0]);
}

}  // namespace

std::vector<OpDef> sample_ops() {
  const AttrDef align_corners{.name = "align_corners", .kind = AttrKind::Int, .preset = int64_t{0}};
  return {
      {.name = "GridSample",
       .attrs = {{.name = "mode", .kind = AttrKind::String, .preset = std::string("linear")},
                 {.name = "padding_mode", .kind = AttrKind::String, .preset = std::string("zeros")},
                 align_corners},
       .min_operands = 2,
       .infer = infer_grid_sample,
       .flops = grid_sample_flops,
       .kernel = grid_sample_kernel,
       .gradient = grid_sample_gradient,
       .since = 16,
       .from_onnx = grid_sample_from_onnx,
       .to_onnx = grid_sample_to_onnx},
      {.name = "AffineGrid",
       .attrs = {{.name = "size", .kind = AttrKind::Ints}, align_corners},
       .infer = infer_affine_grid,
       .flops = affine_grid_flops,
       .kernel = affine_grid_kernel,
       .since = 20,
       .params = {{.index = 1, .attr = "size", .since = 20}}},
  };
}

}  // namespace isomer
