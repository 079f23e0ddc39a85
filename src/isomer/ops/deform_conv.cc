// Deformable convolution: each position of the window is moved by an offset and read by linear interpolation.

#include <algorithm>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/conv.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Operands: X, W, offset, bias (optional), mask (optional).
Result<std::vector<TensorType>> infer_deform_conv(const OpView& view) {
  ISOMER_CHECK(same_dtype(view, 0, 1));
  ISOMER_CHECK(same_dtype(view, 0, 2));
  ISOMER_TRY(auto types, infer_conv(view));
  ISOMER_CHECK(check_bias(view, 3, view.shape(1)[0]));
  const int64_t groups = view.attrs.integer("offset_group");
  const Dim& channels = view.shape(0)[1];
  if (groups < 1 || (channels.is_const() && channels.value() % groups != 0))
    return fail("{} channels of DeformConv do not split into {} offset groups", channels.str(), groups);
  ISOMER_TRY(const Ints kernel, weight_kernel(view.shape(1)));
  Dim positions(groups);
  for (const int64_t extent : kernel) positions = positions * Dim(extent);
  for (const size_t i : {size_t{2}, size_t{4}}) {
    if (!view.has(i)) continue;
    ISOMER_CHECK(same_dtype(view, 0, i));
    Shape want = *types[0].shape;
    want[1] = i == 2 ? positions * Dim(static_cast<int64_t>(kernel.size())) : positions;
    ISOMER_CHECK(want_rank(view, i, want.size()));
    for (size_t axis = 0; axis < want.size(); ++axis)
      if (unequal(want[axis], view.shape(i)[axis]))
        return fail("operand {} of DeformConv must be {}, it is {}", i, shape_str(want), shape_str(view.shape(i)));
  }
  return types;
}

/// Linear interpolation in a plane that is 0 outside.
template <class T>
double sample(const T* plane, int64_t height, int64_t width, double y, double x) {
  if (!(y > -1 && x > -1 && y < static_cast<double>(height) && x < static_cast<double>(width))) return 0;
  const auto y0 = static_cast<int64_t>(std::floor(y));
  const auto x0 = static_cast<int64_t>(std::floor(x));
  double sum = 0;
  for (int64_t i = y0; i <= y0 + 1; ++i) {
    for (int64_t j = x0; j <= x0 + 1; ++j) {
      if (i < 0 || j < 0 || i >= height || j >= width) continue;
      sum += (1 - std::abs(y - static_cast<double>(i))) * (1 - std::abs(x - static_cast<double>(j))) *
             static_cast<double>(plane[i * width + j]);
    }
  }
  return sum;
}

/// The values of channel c of image n at window position `k` (of `kernel_size`), for every output position.
template <class T>
void sample_plane(const KernelContext& context, const Window3& w, int64_t n, int64_t c, int64_t k,
                  std::vector<double>& seen) {
  const int64_t channels = context.operands[0].dims()[1];
  const int64_t group = c / (channels / context.attrs.integer("offset_group"));
  const int64_t size = w.output_size();
  const int64_t place = group * w.kernel_size() + k;
  const T* plane = context.operands[0].data<T>().data() + (n * channels + c) * w.input_size();
  const T* offset = context.operands[2].data<T>().data() + (n * context.operands[2].dims()[1] + 2 * place) * size;
  const T* mask = context.has(4)
                      ? context.operands[4].data<T>().data() + (n * context.operands[4].dims()[1] + place) * size
                      : nullptr;
  for (int64_t i = 0; i < size; ++i) {
    const auto y = static_cast<double>(w.at(1, i / w.output[2], k / w.kernel[2])) + static_cast<double>(offset[i]);
    const auto x =
        static_cast<double>(w.at(2, i % w.output[2], k % w.kernel[2])) + static_cast<double>(offset[size + i]);
    const double value = sample(plane, w.input[1], w.input[2], y, x);
    seen[static_cast<size_t>(i)] = mask != nullptr ? value * static_cast<double>(mask[i]) : value;
  }
}

template <class T>
void deform_convolve(const KernelContext& context, const Window3& w, Tensor& result) {
  const Tensor& weight = context.operands[1];
  const int64_t outputs = weight.dims()[0];
  const int64_t channels = weight.dims()[1];
  const int64_t per_group = outputs / context.attrs.integer("group");
  const int64_t size = w.output_size();
  std::vector<double> seen(static_cast<size_t>(size));
  std::vector<double> sum(static_cast<size_t>(size * outputs));
  T* out = result.mutable_data<T>().data();
  for (int64_t n = 0; n < context.operands[0].dims()[0]; ++n) {
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = context.has(3) ? static_cast<double>(context.operands[3].data<T>()[i / seen.size()]) : 0.0;
    for (int64_t c = 0; c < context.operands[0].dims()[1]; ++c) {
      for (int64_t k = 0; k < w.kernel_size(); ++k) {
        sample_plane<T>(context, w, n, c, k, seen);
        const int64_t first = c / channels * per_group;
        for (int64_t o = first; o < first + per_group; ++o) {
          const auto factor = static_cast<double>(
              weight.data<T>()[static_cast<size_t>((o * channels + c % channels) * w.kernel_size() + k)]);
          for (int64_t i = 0; i < size; ++i)
            sum[static_cast<size_t>(o * size + i)] += factor * seen[static_cast<size_t>(i)];
        }
      }
    }
    for (const double s : sum) *out++ = static_cast<T>(s);
  }
}

Status deform_conv_kernel(KernelContext& context) {
  const auto& weight = context.operands[1].dims();
  if (weight.size() != 4) return fail("the reference kernel of DeformConv has 2 spatial axes");
  ISOMER_TRY(const Window window, read_window(context.attrs, Ints(weight.begin() + 2, weight.end())));
  ISOMER_TRY(const Window3 w, window3(window, context.operands[0].dims(), *concrete(*context.types[0].shape)));
  return for_float(context.operands[0].dtype(),
                   [&]<class T>() { deform_convolve<T>(context, w, new_result(context)); });
}

Status deform_conv_from_onnx(OnnxForm& form) {
  ISOMER_CHECK(conv_from_onnx(form));
  form.attrs.erase("auto_pad");
  return {};
}

}  // namespace

std::vector<OpDef> deform_conv_ops() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.pop_back();  // auto_pad
  attrs.push_back({.name = "group", .kind = AttrKind::Int, .preset = int64_t{1}, .domain = AttrDomain::Groups});
  attrs.push_back({.name = "offset_group", .kind = AttrKind::Int, .preset = int64_t{1}});
  return {{.name = "DeformConv",
           .attrs = std::move(attrs),
           .min_operands = 3,
           .max_operands = 5,
           .infer = infer_deform_conv,
           .flops = flops_conv,
           .kernel = deform_conv_kernel,
           .since = 19,
           .from_onnx = deform_conv_from_onnx}};
}

}  // namespace isomer
