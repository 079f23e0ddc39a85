// Transposed convolution: the adjoint of the convolution with the same window. In normalized form `auto_pad` and
// `output_shape` are resolved to pads, and `output_padding` is given in full.

#include <algorithm>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/conv.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/window_gradient.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_conv_transpose(const OpView& view) {
  ISOMER_CHECK(same_dtype(view, 0, 1));
  if (view.rank(0) < 3 || view.rank(1) != view.rank(0))
    return fail("ConvTranspose needs operands of one rank of at least 3");
  const int64_t group = view.attrs.integer("group");
  const Dim& channels = view.shape(0)[1];
  const Dim& inputs = view.shape(1)[0];
  if (group < 1) return fail("ConvTranspose of {} groups", group);
  if (unequal(channels, inputs))
    return fail("ConvTranspose over {} channels with a weight for {}", channels.str(), inputs.str());
  if (inputs.is_const() && inputs.value() % group != 0)
    return fail("{} input channels of ConvTranspose do not split into {} groups", inputs.str(), group);
  const Dim outputs = view.shape(1)[1] * Dim(group);
  ISOMER_CHECK(check_bias(view, 2, outputs));
  ISOMER_TRY(Ints kernel, weight_kernel(view.shape(1)));
  ISOMER_TRY(const Window window, read_window(view.attrs, std::move(kernel)));
  const Ints& extra = view.attrs.ints("output_padding");
  if (extra.size() != window.rank()) return fail("'output_padding' must have {} elements", window.rank());
  Shape shape{view.shape(0)[0], outputs};
  for (size_t i = 0; i < window.rank(); ++i) {
    if (extra[i] < 0 || extra[i] > (int64_t{1} << 29)) return fail("'output_padding' of {} is out of range", extra[i]);
    const int64_t rest = window.reach(i) + extra[i] - window.begin[i] - window.end[i];
    shape.push_back(Dim(window.strides[i]) * (view.shape(0)[2 + i] - Dim(1)) + Dim(rest));
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// sum[target of position k] += weight * plane. The outputs of the window are the positions of the operand.
template <class T, class Sum>
void spread_position(const Window3& w, const Window3::Triple& k, Sum weight, const T* plane, Sum* sum) {
  const auto [z0, z1] = w.outputs_at(0, k[0]);
  const auto [y0, y1] = w.outputs_at(1, k[1]);
  const auto [x0, x1] = w.outputs_at(2, k[2]);
  for (int64_t z = z0; z < z1; ++z) {
    for (int64_t y = y0; y < y1; ++y) {
      const T* in = plane + (z * w.output[1] + y) * w.output[2];
      Sum* out = sum + (w.at(0, z, k[0]) * w.input[1] + w.at(1, y, k[1])) * w.input[2];
      for (int64_t x = x0; x < x1; ++x) out[w.at(2, x, k[2])] += weight * static_cast<Sum>(in[x]);
    }
  }
}

template <class T, class Sum>
void spread_plane(const Window3& w, const T* plane, const T* kernel, Sum* sum) {
  Window3::Triple k;
  for (k[0] = 0; k[0] < w.kernel[0]; ++k[0])
    for (k[1] = 0; k[1] < w.kernel[1]; ++k[1])
      for (k[2] = 0; k[2] < w.kernel[2]; ++k[2]) spread_position<T, Sum>(w, k, static_cast<Sum>(*kernel++), plane, sum);
}

template <class T>
void transpose_convolve(const Window3& w, int64_t group, const Tensor& x, const Tensor& weight, const T* bias,
                        Tensor& y) {
  using Sum = Accumulator<T>;
  const int64_t channels = x.dims()[1] / group;
  const int64_t outputs = weight.dims()[1];
  std::vector<Sum> sum(static_cast<size_t>(w.input_size()));
  T* out = y.mutable_data<T>().data();
  for (int64_t n = 0; n < x.dims()[0]; ++n) {
    for (int64_t o = 0; o < outputs * group; ++o) {
      std::fill(sum.begin(), sum.end(), bias != nullptr ? static_cast<Sum>(bias[o]) : Sum(0));
      for (int64_t i = 0; i < channels; ++i) {
        const int64_t c = o / outputs * channels + i;
        spread_plane<T, Sum>(w, x.data<T>().data() + (n * x.dims()[1] + c) * w.output_size(),
                             weight.data<T>().data() + (c * outputs + o % outputs) * w.kernel_size(), sum.data());
      }
      for (const Sum& s : sum) *out++ = static_cast<T>(s);
    }
  }
}

Status conv_transpose_kernel(KernelContext& context) {
  const auto& weight = context.operands[1].dims();
  ISOMER_TRY(const Window window, read_window(context.attrs, Ints(weight.begin() + 2, weight.end())));
  // The window of the convolution from the result to the operand.
  ISOMER_TRY(const Window3 w, window3(window, *concrete(*context.types[0].shape), context.operands[0].dims()));
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    const T* bias = context.has(2) ? context.operands[2].data<T>().data() : nullptr;
    transpose_convolve<T>(w, context.attrs.integer("group"), context.operands[0], context.operands[1], bias,
                          new_result(context));
  });
}

double flops_conv_transpose(const WorkView& view) {
  const auto& weight = view.operands[1];
  const double inputs = static_cast<double>(std::max<int64_t>(1, weight[0]));
  return 2 * count(view.operands[0]) * count(weight) / inputs;
}

/// Converts SAME or `output_shape` to pads, or to output_padding if the result is larger than the window reaches.
/// `wanted` is empty for SAME, where the extent of the result is that of the operand times the stride.
Status resolve_output(OnnxForm& form, const Window& window, bool upper, const Ints& wanted, const Ints& spatial) {
  const size_t rank = window.rank();
  Ints pads(2 * rank, 0);
  Ints extra = *form.get<Ints>("output_padding");
  for (size_t i = 0; i < rank; ++i) {
    int64_t total = window.reach(i) + extra[i] - window.strides[i];
    if (!wanted.empty()) total += window.strides[i] * spatial[i] - wanted[i];
    if (total < 0 && wanted.empty())
      return form.leave_opaque("engines disagree on SAME where the stride is larger than the window");
    if (total < 0) extra[i] -= total;
    total = std::max<int64_t>(0, total);
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[rank + i] = total - pads[i];
  }
  form.attrs["pads"] = std::move(pads);
  form.attrs["output_padding"] = std::move(extra);
  return {};
}

Status conv_transpose_from_onnx(OnnxForm& form) {
  const auto* given = form.get<std::string>("auto_pad");
  const std::string auto_pad = given != nullptr ? *given : "NOTSET";
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (same || auto_pad == "VALID") form.attrs.erase("pads");
  form.attrs.erase("auto_pad");
  Ints wanted;
  if (const Ints* shape = form.get<Ints>("output_shape")) wanted = *shape;
  form.attrs.erase("output_shape");
  ISOMER_CHECK(conv_from_onnx(form));
  if (!form.obstacle.empty()) return {};
  form.attrs.erase("auto_pad");
  const size_t rank = form.get<Ints>("strides")->size();
  if (!form.attrs.contains("output_padding")) form.attrs["output_padding"] = Ints(rank, 0);
  const Ints* extra = form.get<Ints>("output_padding");
  if (extra == nullptr || extra->size() != rank) return fail("'output_padding' must have {} elements", rank);
  if (!same && wanted.empty()) return {};
  const Shape* weight = form_shape(form, 1);
  if (weight == nullptr) return form.leave_opaque("the shape of its weight is not known");
  ISOMER_TRY(Ints kernel, weight_kernel(*weight));
  const Ints zeros(2 * rank, 0);
  ISOMER_TRY(
      const Window window,
      read_window(Attrs{{"strides", form.attrs["strides"]}, {"dilations", form.attrs["dilations"]}, {"pads", zeros}},
                  std::move(kernel)));
  const Ints spatial = spatial_extents(form, 0).value_or(Ints());
  if (!wanted.empty() && spatial.empty()) return form.leave_opaque("its output_shape depends on unknown extents");
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != rank) return fail("'output_shape' must have {} elements", rank);
  for (const int64_t extent : wanted)
    if (extent < 0 || extent > Dim::kHuge) return fail("'output_shape' of {} is out of range", extent);
  return resolve_output(form, window, auto_pad == "SAME_UPPER", wanted, spatial);
}

/// The operator is the adjoint of a convolution. So it exchanges the image and the gradient of that convolution.
void conv_transpose_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  Ints kernel;
  for (size_t i = 2; i < node.operand(1).rank(); ++i) kernel.push_back(known_extent(node.operand(1), i));
  const Window window = known_window(g, node.attrs(), std::move(kernel));
  const int64_t group = node.attrs().integer("group");
  if (node.needs(0)) node.give(0, node.call("Conv", node.attrs().without("output_padding"), {g, node.operand(1)}));
  if (node.needs(1)) node.give(1, filter_gradient(g, node.operand(0), window, group));
  if (node.needs(2)) node.give(2, bias_gradient(g));
}

}  // namespace

std::vector<OpDef> conv_transpose_ops() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.pop_back();  // auto_pad
  attrs.push_back({.name = "output_padding", .kind = AttrKind::Ints, .domain = AttrDomain::OutputPadding});
  attrs.push_back({.name = "group", .kind = AttrKind::Int, .preset = int64_t{1}, .domain = AttrDomain::Groups});
  return {{.name = "ConvTranspose",
           .attrs = std::move(attrs),
           .min_operands = 2,
           .max_operands = 3,
           .infer = infer_conv_transpose,
           .flops = flops_conv_transpose,
           .kernel = conv_transpose_kernel,
           .gradient = conv_transpose_gradient,
           .roles = {OperandRole::Image, OperandRole::TransposedFilters},
           .from_onnx = conv_transpose_from_onnx}};
}

}  // namespace isomer
