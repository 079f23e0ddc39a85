// Unusual pools: over regions of interest, and the inverse of a maximum pool.

#include <algorithm>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/window.h"

namespace isomer {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 29;
/// Maximum number of samples along one side of a bin. Regions of real images need fewer.
constexpr double kMaxGrid = 1 << 14;

Result<std::vector<TensorType>> infer_max_unpool(const OpView& view) {
  const Ints& kernel = view.attrs.ints("kernel_shape");
  if (kernel.empty() || view.rank(0) != kernel.size() + 2)
    return fail("MaxUnpool with a kernel of {} axes over {}", kernel.size(), view.type(0).str());
  ISOMER_TRY(const Window window, read_window(view.attrs, kernel));
  if (view.dtype(1) != DType::Int64 || view.rank(1) != view.rank(0))
    return fail("MaxUnpool needs int64 indices of rank {}, got {}", view.rank(0), view.type(1).str());
  if (view.attrs.has("output_shape")) {
    const Ints& wanted = view.attrs.ints("output_shape");
    if (wanted.size() != view.rank(0)) return fail("'output_shape' must have {} elements", view.rank(0));
    return std::vector<TensorType>{{view.dtype(0), Shape(wanted.begin(), wanted.end())}};
  }
  Shape shape{view.shape(0)[0], view.shape(0)[1]};
  for (size_t i = 0; i < window.rank(); ++i)
    shape.push_back((view.shape(0)[2 + i] - Dim(1)) * Dim(window.strides[i]) +
                    Dim(window.kernel[i] - window.begin[i] - window.end[i]));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// The extents to which indices refer: those of the pool's operand if the pool had no remainder.
Result<std::vector<int64_t>> unpooled(const KernelContext& context) {
  ISOMER_TRY(const Window window, read_window(context.attrs, context.attrs.ints("kernel_shape")));
  std::vector<int64_t> dims = context.operands[0].dims();
  for (size_t i = 0; i < window.rank(); ++i)
    dims[2 + i] = (dims[2 + i] - 1) * window.strides[i] + window.kernel[i] - window.begin[i] - window.end[i];
  return dims;
}

/// Writes each element to the position given by its index; with an output_shape, into the corner of a larger result.
Status max_unpool_kernel(KernelContext& context) {
  ISOMER_TRY(const auto own, unpooled(context));
  return for_real(context.operands[0].dtype(), [&]<class T>() -> Status {
    const auto x = context.operands[0].data<T>();
    const auto indices = context.operands[1].data<int64_t>();
    if (indices.size() != x.size()) return fail("MaxUnpool has {} indices for {} elements", indices.size(), x.size());
    Tensor& result = new_result(context);
    const auto y = result.mutable_data<T>();
    const auto strides = strides_of(result.dims());
    for (size_t n = 0; n < x.size(); ++n) {
      int64_t rest = indices[n];
      int64_t at = 0;
      bool inside = rest >= 0;
      for (size_t axis = own.size(); inside && axis-- > 0;) {
        if (own[axis] <= 0) return fail("MaxUnpool into no elements");
        const int64_t i = axis > 0 ? rest % own[axis] : rest;
        rest /= own[axis];
        inside = i < result.dims()[axis];
        at += i * strides[axis];
      }
      if (!inside) return fail("index {} of MaxUnpool is out of range", indices[n]);
      y[static_cast<size_t>(at)] = x[n];
    }
    return {};
  });
}

Status max_unpool_from_onnx(OnnxForm& form) {
  const Ints* kernel = form.get<Ints>("kernel_shape");
  if (kernel == nullptr || kernel->empty()) return fail("MaxUnpool needs 'kernel_shape'");
  ISOMER_CHECK(normalize_window(form, kernel->size(), Ints(*kernel)));
  form.attrs.erase("auto_pad");
  form.attrs.erase("dilations");
  return {};
}

Result<std::vector<TensorType>> infer_roi(const OpView& view, int64_t columns, int64_t height, int64_t width) {
  ISOMER_CHECK(want_rank(view, 0, 4));
  ISOMER_CHECK(want_rank(view, 1, 2));
  ISOMER_CHECK(same_dtype(view, 0, 1));
  if (view.shape(1)[1].is_const() && !view.shape(1)[1].is(columns))
    return fail("{} needs {} numbers per region, got {}", view.op.name, columns, view.type(1).str());
  if (height < 1 || width < 1 || height > kMaxExtent || width > kMaxExtent)
    return fail("{} to {} by {} is out of range", view.op.name, height, width);
  return std::vector<TensorType>{{view.dtype(0), {view.shape(1)[0], view.shape(0)[1], height, width}}};
}

Result<std::vector<TensorType>> infer_max_roi_pool(const OpView& view) {
  const Ints& shape = view.attrs.ints("pooled_shape");
  if (shape.size() != 2) return fail("'pooled_shape' must have 2 elements");
  return infer_roi(view, 5, shape[0], shape[1]);
}

Result<std::vector<TensorType>> infer_roi_align(const OpView& view) {
  ISOMER_CHECK(want_rank(view, 2, 1));
  if (!is_integer(view.dtype(2))) return fail("RoiAlign needs integer batch indices");
  const std::string& mode = view.attrs.text("mode");
  const std::string& pixel = view.attrs.text("coordinate_transformation_mode");
  if (mode != "avg" && mode != "max") return fail("RoiAlign has no mode '{}'", mode);
  if (pixel != "half_pixel" && pixel != "output_half_pixel") return fail("RoiAlign has no coordinates '{}'", pixel);
  return infer_roi(view, 4, view.attrs.integer("output_height"), view.attrs.integer("output_width"));
}

double flops_roi(const WorkView& view) { return 8 * count(view.results[0]); }

/// The rows (or columns) of bin `i` of `bins` over [start, end], clipped to the image.
std::pair<int64_t, int64_t> bin_range(double start, double end, int64_t i, int64_t bins, int64_t extent) {
  const double size = std::max(end - start + 1, 1.0) / static_cast<double>(bins);
  const auto limit = static_cast<double>(extent);
  const auto cut = [&](double v) { return static_cast<int64_t>(std::isnan(v) ? 0 : std::clamp(v, 0.0, limit)); };
  return {cut(std::floor(static_cast<double>(i) * size) + start),
          cut(std::ceil(static_cast<double>(i + 1) * size) + start)};
}

template <class T>
Status max_roi_pool(KernelContext& context) {
  const Tensor& x = context.operands[0];
  const auto& dims = x.dims();
  const auto scale = static_cast<double>(context.attrs.real("spatial_scale"));
  const T* roi = context.operands[1].data<T>().data();
  Tensor& result = new_result(context);
  const auto& out = result.dims();
  T* y = result.mutable_data<T>().data();
  for (int64_t r = 0; r < out[0]; ++r, roi += 5) {
    const auto batch = static_cast<double>(roi[0]);
    if (!(batch >= 0 && batch < static_cast<double>(dims[0]))) return fail("region {} has no batch {}", r, batch);
    double side[4];
    for (int i = 0; i < 4; ++i) side[i] = std::round(static_cast<double>(roi[1 + i]) * scale);
    for (int64_t c = 0; c < out[1]; ++c) {
      const T* plane = x.data<T>().data() + (static_cast<int64_t>(batch) * dims[1] + c) * dims[2] * dims[3];
      for (int64_t bin = 0; bin < out[2] * out[3]; ++bin) {
        const auto [y0, y1] = bin_range(side[1], side[3], bin / out[3], out[2], dims[2]);
        const auto [x0, x1] = bin_range(side[0], side[2], bin % out[3], out[3], dims[3]);
        T best = y0 < y1 && x0 < x1 ? lattice_bottom<T>() : T(0);
        for (int64_t i = y0; i < y1; ++i)
          for (int64_t j = x0; j < x1; ++j) best = scalar_max(best, plane[i * dims[3] + j]);
        *y++ = best;
      }
    }
  }
  return {};
}

/// One axis of a region: its start, the width of a bin, and the number of samples per bin.
struct RoiAxis {
  double start;
  double bin;
  int64_t grid;
};

/// Computes in the operand's own type, because rounding determines the number of samples.
template <class T>
Result<RoiAxis> roi_axis(const Attrs& attrs, T low, T high, int64_t bins) {
  const bool half = attrs.text("coordinate_transformation_mode") == "half_pixel";
  const T shift = half ? T(0.5) : T(0);
  const T scale = static_cast<T>(attrs.real("spatial_scale"));
  const T start = low * scale - shift;
  T size = high * scale - shift - start;
  if (!half) size = std::max(size, T(1));
  const T bin = size / static_cast<T>(bins);
  const int64_t ratio = attrs.integer("sampling_ratio");
  const double grid = ratio > 0 ? static_cast<double>(ratio) : std::ceil(static_cast<double>(bin));
  if (!(grid <= kMaxGrid)) return fail("a region of size {} is too large to sample", size);
  return RoiAxis{static_cast<double>(start), static_cast<double>(bin), static_cast<int64_t>(std::max(grid, 0.0))};
}

/// The four neighbors of a point with their weights, which are all zero outside the image.
template <class T>
std::array<double, 4> weighted_corners(const T* plane, int64_t height, int64_t width, double y, double x) {
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) return {};
  if (height == 0 || width == 0) return {};
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const auto y0 = static_cast<int64_t>(y);
  const auto x0 = static_cast<int64_t>(x);
  const int64_t y1 = std::min(y0 + 1, height - 1);
  const int64_t x1 = std::min(x0 + 1, width - 1);
  const double ly = y - static_cast<double>(y0);
  const double lx = x - static_cast<double>(x0);
  const auto at = [&](int64_t i, int64_t j) { return static_cast<double>(plane[i * width + j]); };
  return {(1 - ly) * (1 - lx) * at(y0, x0), (1 - ly) * lx * at(y0, x1), ly * (1 - lx) * at(y1, x0),
          ly * lx * at(y1, x1)};
}

template <class T>
double align_bin(const T* plane, int64_t height, int64_t width, const RoiAxis& v, const RoiAxis& h, int64_t i,
                 int64_t j, bool average) {
  double sum = 0;
  double best = -std::numeric_limits<double>::infinity();
  for (int64_t a = 0; a < v.grid; ++a) {
    const double y =
        v.start + v.bin * (static_cast<double>(i) + (static_cast<double>(a) + 0.5) / static_cast<double>(v.grid));
    for (int64_t b = 0; b < h.grid; ++b) {
      const double x =
          h.start + h.bin * (static_cast<double>(j) + (static_cast<double>(b) + 0.5) / static_cast<double>(h.grid));
      for (const double corner : weighted_corners(plane, height, width, y, x)) {
        sum += corner;
        best = std::max(best, corner);
      }
    }
  }
  const int64_t n = v.grid * h.grid;
  if (n == 0) return 0;
  return average ? sum / static_cast<double>(n) : best;
}

template <class T>
Status roi_align(KernelContext& context) {
  const Tensor& x = context.operands[0];
  const auto& dims = x.dims();
  const auto batches = context.operands[2].data<int64_t>();
  const T* roi = context.operands[1].data<T>().data();
  const bool average = context.attrs.text("mode") == "avg";
  Tensor& result = new_result(context);
  const auto& out = result.dims();
  if (static_cast<int64_t>(batches.size()) != out[0]) return fail("RoiAlign needs one batch index for each region");
  T* y = result.mutable_data<T>().data();
  for (int64_t r = 0; r < out[0]; ++r, roi += 4) {
    const int64_t batch = batches[static_cast<size_t>(r)];
    if (batch < 0 || batch >= dims[0]) return fail("region {} has no batch {}", r, batch);
    ISOMER_TRY(const RoiAxis h, roi_axis(context.attrs, roi[0], roi[2], out[3]));
    ISOMER_TRY(const RoiAxis v, roi_axis(context.attrs, roi[1], roi[3], out[2]));
    for (int64_t c = 0; c < out[1]; ++c) {
      const T* plane = x.data<T>().data() + (batch * dims[1] + c) * dims[2] * dims[3];
      for (int64_t i = 0; i < out[2]; ++i)
        for (int64_t j = 0; j < out[3]; ++j)
          *y++ = static_cast<T>(align_bin(plane, dims[2], dims[3], v, h, i, j, average));
    }
  }
  return {};
}

/// Before opset 16 there was no half-pixel shift.
Status roi_align_from_onnx(OnnxForm& form) {
  if (form.opset < 16) form.attrs["coordinate_transformation_mode"] = std::string("output_half_pixel");
  return {};
}
Status roi_align_to_onnx(OnnxForm& form) {
  if (form.opset >= 16) return {};
  const auto* mode = form.get<std::string>("coordinate_transformation_mode");
  if (mode == nullptr || *mode != "output_half_pixel")
    return form.leave_opaque("RoiAlign with half_pixel needs opset 16");
  form.attrs.erase("coordinate_transformation_mode");
  return {};
}

}  // namespace

std::vector<OpDef> roi_ops() {
  const AttrDef scale{.name = "spatial_scale", .kind = AttrKind::Float, .preset = 1.0F};
  return {
      {.name = "MaxUnpool",
       .attrs = {{.name = "kernel_shape", .kind = AttrKind::Ints, .domain = AttrDomain::Window},
                 {.name = "strides", .kind = AttrKind::Ints, .domain = AttrDomain::Strides},
                 {.name = "pads", .kind = AttrKind::Ints, .domain = AttrDomain::WindowPads},
                 {.name = "output_shape", .kind = AttrKind::Ints, .optional = true}},
       .min_operands = 2,
       .infer = infer_max_unpool,
       .kernel = max_unpool_kernel,
       .since = 9,
       .params = {{.index = 2, .attr = "output_shape", .since = 9}},
       .from_onnx = max_unpool_from_onnx},
      {.name = "MaxRoiPool",
       .attrs = {{.name = "pooled_shape", .kind = AttrKind::Ints}, scale},
       .min_operands = 2,
       .infer = infer_max_roi_pool,
       .flops = flops_roi,
       .kernel = float_kernel([]<class T>(KernelContext& context) { return max_roi_pool<T>(context); }),
       .roles = {OperandRole::Image}},
      {.name = "RoiAlign",
       .attrs = {{.name = "mode", .kind = AttrKind::String, .preset = std::string("avg")},
                 {.name = "coordinate_transformation_mode",
                  .kind = AttrKind::String,
                  .preset = std::string("half_pixel")},
                 {.name = "output_height", .kind = AttrKind::Int, .preset = int64_t{1}},
                 {.name = "output_width", .kind = AttrKind::Int, .preset = int64_t{1}},
                 {.name = "sampling_ratio", .kind = AttrKind::Int, .preset = int64_t{0}},
                 scale},
       .min_operands = 3,
       .infer = infer_roi_align,
       .flops = flops_roi,
       .kernel = float_kernel([]<class T>(KernelContext& context) { return roi_align<T>(context); }),
       .since = 10,
       .from_onnx = roi_align_from_onnx,
       .to_onnx = roi_align_to_onnx},
  };
}

}  // namespace isomer
