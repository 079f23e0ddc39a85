// Convolution. The weight's shape is the kernel's shape, so normalized nodes have no `kernel_shape`.

#include "isomer/ops/conv.h"

#include <algorithm>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel_deadline.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/symbolic_window.h"
#include "isomer/ops/window_gradient.h"

namespace isomer {
namespace {

/// Joins the last two axes if the window moves over both as over one line. A 1x1 kernel then processes whole planes.
void join_rows(Window3& w) {
  const auto plain = [&](size_t i) {
    return w.kernel[i] == 1 && w.stride[i] == 1 && w.begin[i] == 0 && w.input[i] == w.output[i];
  };
  if (!plain(1) || !plain(2)) return;
  w.input[2] = w.output[2] = w.input[1] * w.input[2];
  w.input[1] = w.output[1] = 1;
}

/// The number of output channels that are computed together, so that each input element is read once for all of them,
/// and of elements of a row that are read together.
constexpr int64_t kBlock = 4;
constexpr int64_t kRun = 4;

/// sums[b][x] += weights[b] * row[first + x * step] for x in [x0, x1) and b in [0, Block), where sums[b] = sum + b *
/// size.
template <int64_t Block, class T, class Sum>
void add_row(const Sum* weights, const T* row, int64_t first, int64_t step, int64_t x0, int64_t x1, Sum* sum,
             int64_t size) {
  int64_t x = x0;
  for (; x + kRun <= x1; x += kRun) {
    Sum v[kRun];
    for (int64_t i = 0; i < kRun; ++i) v[i] = static_cast<Sum>(row[first + (x + i) * step]);
    for (int64_t b = 0; b < Block; ++b)
      for (int64_t i = 0; i < kRun; ++i) sum[b * size + x + i] += weights[b] * v[i];
  }
  for (; x < x1; ++x)
    for (int64_t b = 0; b < Block; ++b) sum[b * size + x] += weights[b] * static_cast<Sum>(row[first + x * step]);
}

/// Adds the contribution of window position k over the plane, with one weight per channel of the block.
template <int64_t Block, class T, class Sum>
void add_position(const Window3& w, const Window3::Triple& k, const Sum* weights, const T* plane, Sum* sum) {
  const auto [z0, z1] = w.outputs_at(0, k[0]);
  const auto [y0, y1] = w.outputs_at(1, k[1]);
  const auto [x0, x1] = w.outputs_at(2, k[2]);
  for (int64_t z = z0; z < z1; ++z) {
    for (int64_t y = y0; y < y1; ++y) {
      const T* in = plane + (w.at(0, z, k[0]) * w.input[1] + w.at(1, y, k[1])) * w.input[2];
      add_row<Block>(weights, in, w.at(2, 0, k[2]), w.stride[2], x0, x1, sum + (z * w.output[1] + y) * w.output[2],
                     w.output_size());
    }
  }
}

/// The planes of `Block` output channels over the input channels of their group. `weight` starts at the first of them.
template <int64_t Block, class T, class Sum>
void convolve_block(const Window3& w, int64_t channels, const T* input, const T* weight, Sum* sum) {
  for (int64_t c = 0; c < channels; ++c) {
    const T* kernel = weight + c * w.kernel_size();
    Window3::Triple k;
    for (k[0] = 0; k[0] < w.kernel[0]; ++k[0]) {
      for (k[1] = 0; k[1] < w.kernel[1]; ++k[1]) {
        for (k[2] = 0; k[2] < w.kernel[2]; ++k[2], ++kernel) {
          Sum weights[Block];
          for (int64_t b = 0; b < Block; ++b) weights[b] = static_cast<Sum>(kernel[b * channels * w.kernel_size()]);
          add_position<Block, T, Sum>(w, k, weights, input + c * w.input_size(), sum);
        }
      }
    }
  }
}

template <class T>
Status convolve(const Window3& w, int64_t group, const Tensor& x, const Tensor& weight, const T* bias, Tensor& y) {
  using Sum = Accumulator<T>;
  const int64_t channels = weight.dims()[1];
  const int64_t per_group = weight.dims()[0] / group;
  const int64_t size = w.output_size();
  std::vector<Sum> sum(static_cast<size_t>(kBlock * size));
  T* out = y.mutable_data<T>().data();
  KernelProgress progress(static_cast<double>(x.dims()[0] * group * per_group));
  for (int64_t n = 0; n < x.dims()[0] * group; ++n) {
    const T* input = x.data<T>().data() + n * channels * w.input_size();
    const int64_t first = n % group * per_group;
    for (int64_t o = first; o < first + per_group;) {
      const int64_t block = o + kBlock <= first + per_group ? kBlock : 1;
      for (int64_t i = 0; i < block * size; ++i)
        sum[static_cast<size_t>(i)] = bias != nullptr ? static_cast<Sum>(bias[o + i / size]) : Sum(0);
      const T* weights = weight.data<T>().data() + o * channels * w.kernel_size();
      if (block == kBlock)
        convolve_block<kBlock, T, Sum>(w, channels, input, weights, sum.data());
      else
        convolve_block<1, T, Sum>(w, channels, input, weights, sum.data());
      for (int64_t i = 0; i < block * size; ++i) *out++ = static_cast<T>(sum[static_cast<size_t>(i)]);
      o += block;
      ISOMER_CHECK(progress.add(static_cast<double>(block)));
    }
  }
  return {};
}

Result<Window3> conv_window(const KernelContext& context) {
  const auto& weight = context.operands[1].dims();
  ISOMER_TRY(const Window window, read_window(context.attrs, Ints(weight.begin() + 2, weight.end())));
  ISOMER_TRY(Window3 w, window3(window, context.operands[0].dims(), *concrete(*context.types[0].shape)));
  join_rows(w);
  return w;
}

/// Σ_{c,k} x[n, g c' + c, o stride + k dilation - begin] w[o, c, k] + bias[o], where g is the group of o, each of which
/// has c' channels; 0 where x is read outside.
void conv_axiom(Axiom& axiom) {
  Scope& scope = axiom.scope;
  const SymbolicTensor& x = axiom.operand(0);
  const SymbolicTensor& w = axiom.operand(1);
  axiom.require(x.rank() >= 3 && x.rank() == w.rank());
  const SymbolicWindow window = symbolic_window(axiom, {w.shape.begin() + 2, w.shape.end()});
  scope.assume(at_most(1, axiom.integer("group")));
  const Dim group = scope.canonical(axiom.integer("group"));
  scope.agree(equal(x.shape[1], group * w.shape[1]));
  const Dim channels = scope.canonical(w.shape[1]);
  Dim per_group = scope.exactly_divided(w.shape[0], group);
  if (!group.is(1) && !scope.decide(at_most(1, per_group))) per_group = 0;
  std::optional<SymbolicTensor> bias;
  if (axiom.has(2)) bias = axiom.operand(2);
  if (bias) scope.agree(equal(bias->shape, {w.shape[0]}));
  std::vector<Dim> shape{x.shape[0], group * per_group};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  const auto at = [&scope, x, w, bias, window, group, channels, per_group](const SymbolicIndex& index) {
    const SymbolicIndex o(index.begin() + 2, index.end());
    const Dim first = group.is(1) || per_group.is(0) ? Dim(0) : scope.quotient(index[1], per_group) * channels;
    std::vector<Dim> extents{channels};
    extents.insert(extents.end(), window.kernel.begin(), window.kernel.end());
    const Element sum = scope.sum(extents, [&](const SymbolicIndex& k) {
      const SymbolicIndex seen = window.at(o, {k.begin() + 1, k.end()});
      if (!scope.decide(window.inside(seen))) return Element(0);
      SymbolicIndex from{index[0], first + k[0]};
      from.insert(from.end(), seen.begin(), seen.end());
      SymbolicIndex weight{index[1]};
      weight.insert(weight.end(), k.begin(), k.end());
      return scope.times(x.at(from), w.at(weight));
    });
    return bias ? sum + bias->at({index[1]}) : sum;
  };
  axiom.results.push_back({std::move(shape), at, x.real && w.real && (!bias || bias->real)});
}

Status conv_kernel(KernelContext& context) {
  ISOMER_TRY(const Window3 w, conv_window(context));
  return for_real(context.operands[0].dtype(), [&]<class T>() -> Status {
    const T* bias = context.has(2) ? context.operands[2].data<T>().data() : nullptr;
    return convolve<T>(w, context.attrs.integer("group"), context.operands[0], context.operands[1], bias,
                       new_result(context));
  });
}

/// The elements minus their zero point, which is a single number, or one number for each `run` elements.
Tensor without_zero_point(const KernelContext& context, size_t i, size_t zero) {
  const Tensor& x = context.operands[i];
  if (!context.has(zero)) return x;
  const auto zeros = context.operands[zero].data<int64_t>();
  if (zeros.empty()) return x;
  const auto from = x.data<int64_t>();
  Tensor out = Tensor::zeros(DType::Int64, x.dims());
  const auto to = out.mutable_data<int64_t>();
  const size_t run = std::max<size_t>(1, from.size() / zeros.size());
  for (size_t n = 0; n < from.size(); ++n) to[n] = from[n] - zeros[std::min(n / run, zeros.size() - 1)];
  return out;
}

Status conv_integer_kernel(KernelContext& context) {
  ISOMER_TRY(const Window3 w, conv_window(context));
  const Tensor x = without_zero_point(context, 0, 2);
  const Tensor weight = without_zero_point(context, 1, 3);
  return convolve<int64_t>(w, context.attrs.integer("group"), x, weight, nullptr, new_result(context));
}

Result<std::vector<TensorType>> infer_conv_real(const OpView& view) {
  ISOMER_CHECK(same_dtype(view, 0, 1));
  ISOMER_TRY(auto types, infer_conv(view));
  ISOMER_CHECK(check_bias(view, 2, view.shape(1)[0]));
  return types;
}

bool is_byte(DType dtype) { return dtype == DType::Int8 || dtype == DType::Uint8; }

Result<std::vector<TensorType>> infer_conv_integer(const OpView& view) {
  if (!is_byte(view.dtype(0)) || !is_byte(view.dtype(1))) return fail("ConvInteger takes integers of 8 bits");
  if (view.has(2) && (view.dtype(2) != view.dtype(0) || !element_count(view.shape(2)).is(1)))
    return fail("the zero point of ConvInteger's input must be one element of its type");
  if (view.has(3) && (view.dtype(3) != view.dtype(1) || view.rank(3) > 1))
    return fail("the zero point of ConvInteger's weight must be a vector of its type");
  if (view.has(3) && view.rank(3) == 1 && !view.shape(3)[0].is(1) && !(view.shape(3)[0] == view.shape(1)[0]))
    return fail("ConvInteger needs one zero point for each output channel");
  ISOMER_TRY(auto types, infer_conv(view));
  types[0].dtype = DType::Int32;
  return types;
}

std::vector<AttrDef> conv_attrs() {
  std::vector<AttrDef> attrs = window_attrs();
  attrs.push_back({.name = "group", .kind = AttrKind::Int, .preset = int64_t{1}, .domain = AttrDomain::Groups});
  return attrs;
}

Status conv_to_onnx(OnnxForm& form) { return write_window(form); }

void conv_gradient(Backward& node) {
  const GraphValue image = node.operand(0);
  const Shape& filters = node.operand(1).shape();
  Ints kernel;
  for (size_t i = 2; i < filters.size(); ++i) kernel.push_back(known_extent(node.operand(1), i));
  const Window window = known_window(image, node.attrs(), std::move(kernel));
  const int64_t group = node.attrs().integer("group");
  if (node.needs(0)) node.give(0, image_gradient(node.gradient(), node.operand(1), image.shape(), window, group));
  if (node.needs(1)) node.give(1, filter_gradient(image, node.gradient(), window, group));
  if (node.needs(2)) node.give(2, bias_gradient(node.gradient()));
}

}  // namespace

Status check_conv_operands(const OpView& view) {
  if (view.rank(0) < 3 || view.rank(1) != view.rank(0))
    return fail("{} needs operands of one rank of at least 3, got {} and {}", view.op.name, view.type(0).str(),
                view.type(1).str());
  const int64_t group = view.attrs.integer("group");
  if (group < 1) return fail("{} of {} groups", view.op.name, group);
  const Dim& channels = view.shape(0)[1];
  const Dim needed = view.shape(1)[1] * Dim(group);
  if (unequal(channels, needed))
    return fail("{} over {} channels with a weight for {}", view.op.name, channels.str(), needed.str());
  const Dim& outputs = view.shape(1)[0];
  if (outputs.is_const() && outputs.value() % group != 0)
    return fail("{} output channels of {} do not split into {} groups", outputs.str(), view.op.name, group);
  return {};
}

Status check_bias(const OpView& view, size_t i, const Dim& extent) {
  if (!view.has(i)) return {};
  ISOMER_CHECK(same_dtype(view, 0, i));
  return want_vector(view, i, extent);
}

Result<std::vector<TensorType>> infer_conv(const OpView& view) {
  ISOMER_CHECK(check_conv_operands(view));
  ISOMER_TRY(Ints kernel, weight_kernel(view.shape(1)));
  ISOMER_TRY(const Window window, read_window(view.attrs, std::move(kernel)));
  Shape shape{view.shape(0)[0], view.shape(1)[0]};
  for (size_t i = 0; i < window.rank(); ++i) {
    ISOMER_TRY(Dim extent, window_count(window, i, view.shape(0)[2 + i]));
    shape.push_back(std::move(extent));
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

double flops_conv(const WorkView& view) {
  const auto& weight = view.operands[1];
  const double outputs = static_cast<double>(std::max<int64_t>(1, weight[0]));
  return 2 * count(view.results[0]) * count(weight) / outputs;
}

Status conv_from_onnx(OnnxForm& form) {
  const Ints kernel = spatial_extents(form, 1).value_or(Ints());
  const size_t spatial = spatial_rank(form);
  if (const Ints* said = form.get<Ints>("kernel_shape"); said != nullptr && !said->empty()) {
    if (kernel.empty()) return form.leave_opaque("the extents of its weight are not known");
    if (*said != kernel) return fail("kernel_shape differs from the extents of the weight");
  }
  form.attrs.erase("kernel_shape");
  return normalize_window(form, spatial, kernel);
}

std::vector<OpDef> conv_ops() {
  return {
      {.name = "Conv",
       .attrs = conv_attrs(),
       .min_operands = 2,
       .max_operands = 3,
       .infer = infer_conv_real,
       .flops = flops_conv,
       .kernel = conv_kernel,
       .axiom = conv_axiom,
       .gradient = conv_gradient,
       .traits = {Trait::RealsOnly},
       .roles = {OperandRole::Image, OperandRole::Filters, OperandRole::FilterBias},
       .from_onnx = conv_from_onnx,
       .to_onnx = conv_to_onnx},
      {.name = "ConvInteger",
       .attrs = conv_attrs(),
       .min_operands = 2,
       .max_operands = 4,
       .infer = infer_conv_integer,
       .flops = flops_conv,
       .kernel = conv_integer_kernel,
       .since = 10,
       .from_onnx = conv_from_onnx,
       .to_onnx = conv_to_onnx},
  };
}

}  // namespace isomer
