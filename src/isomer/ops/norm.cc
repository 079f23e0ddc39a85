// Normalizations per channel.

#include "isomer/ops/norm.h"

#include <algorithm>

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

double flops_norm(const WorkView& view) { return 4 * count(view.operands[0]); }
double flops_statistics(const WorkView& view) { return 8 * count(view.operands[0]); }

/// X and vectors with one element per channel (axis 1).
Result<std::vector<TensorType>> infer_by_channel(const OpView& view) {
  if (view.rank(0) < 2) return fail("{} needs a rank of at least 2, got {}", view.op.name, view.type(0).str());
  for (size_t i = 1; i < view.operands.size(); ++i) ISOMER_CHECK(want_vector(view, i, view.shape(0)[1]));
  return std::vector<TensorType>{view.type(0)};
}

/// (x - mean) * scale / sqrt(var + epsilon) + bias, in inference form: the statistics are operands.
Status batch_norm_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    const Tensor& x = context.operands[0];
    std::vector<Sum> vectors[4];
    for (size_t i = 0; i < 4; ++i) vectors[i] = real_elements<Sum>(context.operands[1 + i]);
    const auto epsilon = scalar<Sum>(context.attrs.real("epsilon"));
    const auto from = x.data<T>();
    const auto to = new_result(context).mutable_data<T>();
    const AxisSplit split = axis_split(x.dims(), 1);
    for (int64_t p = 0; p < split.outer * split.extent; ++p) {
      const auto c = static_cast<size_t>(p % split.extent);
      const Sum factor = vectors[0][c] / scalar_sqrt(vectors[3][c] + epsilon);
      for (int64_t i = p * split.inner; i < (p + 1) * split.inner; ++i)
        to[static_cast<size_t>(i)] =
            static_cast<T>((static_cast<Sum>(from[static_cast<size_t>(i)]) - vectors[2][c]) * factor + vectors[1][c]);
    }
  });
}

void batch_norm_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  axiom.require(x.rank() >= 2);
  std::vector<SymbolicTensor> vectors;
  for (size_t i = 1; i < 5; ++i) {
    vectors.push_back(axiom.operand(i));
    axiom.scope.agree(equal(vectors.back().shape, {x.shape[1]}));
  }
  const auto at = [&scope = axiom.scope, x, vectors, epsilon = axiom.number("epsilon")](const SymbolicIndex& index) {
    const auto of = [&](size_t i) { return vectors[i].at({index[1]}); };
    const Element factor = scope.times(of(0), inverse(function("Sqrt", {of(3) + epsilon})));
    return scope.times(x.at(index) - of(2), factor) + of(1);
  };
  axiom.results.push_back({x.shape, at, x.real});
}

/// Only the inference form is supported: it has one result and running statistics as operands.
Status batch_norm_from_onnx(OnnxForm& form) {
  const auto* training = form.get<int64_t>("training_mode");
  if ((training != nullptr && *training != 0) || form.num_results > 1)
    return form.leave_opaque("batch normalization in training form");
  const auto* spatial = form.get<int64_t>("spatial");
  if (spatial != nullptr && *spatial != 1) return form.leave_opaque("batch normalization by element");
  const Shape* shape = form_shape(form, 0);
  if (shape != nullptr && shape->size() < 2)
    return form.leave_opaque("batch normalization without an axis of channels");
  form.attrs.erase("training_mode");
  form.attrs.erase("spatial");
  return {};
}

/// Normalizes each of `groups` equal groups of channels of each image, then scales and shifts. Element c / per of
/// `scale` and `bias` applies to channel c (per = 1: one element per channel).
template <class T>
void group_normalize(KernelContext& context, int64_t groups, int64_t per) {
  using Sum = Accumulator<T>;
  const Tensor& x = context.operands[0];
  const AxisSplit split = axis_split(x.dims(), 1);
  const auto scale = real_elements<Sum>(context.operands[1]);
  const auto bias = real_elements<Sum>(context.operands[2]);
  const auto epsilon = scalar<Sum>(context.attrs.real("epsilon"));
  const auto from = x.data<T>();
  const auto to = new_result(context).mutable_data<T>();
  const int64_t run = split.extent / groups * split.inner;
  for (int64_t g = 0; g < split.outer * groups; ++g) {
    const auto first = static_cast<size_t>(g * run);
    const auto stats = moments<T>(from.subspan(first, static_cast<size_t>(run)));
    const Sum deviation = scalar_sqrt(stats.variance + epsilon);
    for (size_t i = first; i < first + static_cast<size_t>(run); ++i) {
      const int64_t channel = static_cast<int64_t>(i) / split.inner % split.extent;
      const auto c = static_cast<size_t>(channel / per);
      to[i] = static_cast<T>((static_cast<Sum>(from[i]) - stats.mean) / deviation * scale[c] + bias[c]);
    }
  }
}

Status instance_norm_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    const int64_t channels = context.operands[0].dims()[1];
    if (context.operands[0].element_count() == 0)
      new_result(context);
    else
      group_normalize<T>(context, channels, 1);
  });
}

/// Each group of `per_group` channels of an image is normalized; scale and bias are those of channel c at element(c).
void group_norm(Axiom& axiom, const Dim& per_group, const std::function<Dim(const Dim&)>& element) {
  const SymbolicTensor& x = axiom.operand(0);
  const auto at = [&scope = axiom.scope, x, per_group, element, scale = axiom.operand(1), bias = axiom.operand(2),
                   epsilon = axiom.number("epsilon")](const SymbolicIndex& index) {
    const Dim first = per_group.is(1) ? index[1] : scope.quotient(index[1], per_group) * per_group;
    std::vector<Dim> extents{per_group};
    extents.insert(extents.end(), x.shape.begin() + 2, x.shape.end());
    const Element share = inverse_product(scope, extents);
    const auto mean_of = [&](const std::function<Element(const Element&)>& f) {
      const Element sum = scope.sum(extents, [&](const SymbolicIndex& k) {
        SymbolicIndex from{index[0], first + k[0]};
        from.insert(from.end(), k.begin() + 1, k.end());
        return f(x.at(from));
      });
      return scope.times(share, sum);
    };
    return normalized(scope, x.at(index), mean_of, epsilon, scale.at({element(index[1])}),
                      bias.at({element(index[1])}));
  };
  axiom.results.push_back({x.shape, at, x.real});
}

void instance_norm_axiom(Axiom& axiom) {
  axiom.require(axiom.operand(0).rank() >= 2);
  for (size_t i = 1; i < 3; ++i) axiom.scope.agree(equal(axiom.operand(i).shape, {axiom.operand(0).shape[1]}));
  group_norm(axiom, 1, [](const Dim& channel) { return channel; });
}

void group_norm_axiom(Axiom& axiom) {
  Scope& scope = axiom.scope;
  const Dim groups = axiom.integer("num_groups");
  axiom.require(axiom.operand(0).rank() >= 2);
  const Dim& channels = axiom.operand(0).shape[1];
  scope.assume(at_most(1, groups));
  const Dim per_group = scope.quotient(channels, groups);
  scope.assume(equal(channels, groups * per_group));
  const bool shared = axiom.known("per_group") != 0;
  for (size_t i = 1; i < 3; ++i) scope.agree(equal(axiom.operand(i).shape, {shared ? groups : channels}));
  group_norm(axiom, per_group,
             [&scope, per_group, shared](const Dim& c) { return shared ? scope.quotient(c, per_group) : c; });
}

Result<std::vector<TensorType>> infer_group_norm(const OpView& view) {
  if (view.rank(0) < 2) return fail("GroupNormalization needs a rank of at least 2, got {}", view.type(0).str());
  const int64_t groups = view.attrs.integer("num_groups");
  const Dim& channels = view.shape(0)[1];
  if (groups < 1 || (channels.is_const() && channels.value() % groups != 0))
    return fail("{} channels of GroupNormalization do not split into {} groups", channels.str(), groups);
  const Dim extent = view.attrs.integer("per_group") != 0 ? Dim(groups) : channels;
  for (size_t i = 1; i < 3; ++i) ISOMER_CHECK(want_vector(view, i, extent));
  return std::vector<TensorType>{view.type(0)};
}

Status group_norm_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    const int64_t groups = context.attrs.integer("num_groups");
    const int64_t per = context.attrs.integer("per_group") != 0 ? context.operands[0].dims()[1] / groups : 1;
    if (context.operands[0].element_count() == 0)
      new_result(context);
    else
      group_normalize<T>(context, groups, per);
  });
}

/// Before opset 21, scale and bias had one element per group instead of per channel: Isomer's attribute `per_group`.
Status group_norm_from_onnx(OnnxForm& form) {
  form.attrs["per_group"] = int64_t{form.opset < 21 ? 1 : 0};
  return {};
}
Status group_norm_to_onnx(OnnxForm& form) {
  const bool per_group = form.attrs.contains("per_group");
  if (per_group != (form.opset < 21))
    return form.leave_opaque(
        fmt::format("GroupNormalization by {} is not of this opset", per_group ? "group" : "channel"));
  form.attrs.erase("per_group");
  return {};
}

/// x / (bias + alpha / size * sum of squares over `size` channels around)^beta.
Status lrn_kernel(KernelContext& context) {
  const int64_t size = context.attrs.integer("size");
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    const Tensor& x = context.operands[0];
    const AxisSplit split = axis_split(x.dims(), 1);
    const auto alpha = scalar<Sum>(context.attrs.real("alpha")) / from_count<Sum>(size);
    const auto beta = scalar<Sum>(context.attrs.real("beta"));
    const auto bias = scalar<Sum>(context.attrs.real("bias"));
    const T* from = x.data<T>().data();
    T* to = new_result(context).mutable_data<T>().data();
    for (int64_t n = 0; n < split.outer; ++n) {
      for (int64_t c = 0; c < split.extent; ++c) {
        const int64_t low = std::max<int64_t>(0, c - (size - 1) / 2);
        const int64_t high = std::min(split.extent, c + size / 2 + 1);
        for (int64_t i = 0; i < split.inner; ++i) {
          Sum squares(0);
          for (int64_t k = low; k < high; ++k) {
            const auto v = static_cast<Sum>(from[split.start(n, i) + k * split.inner]);
            squares += v * v;
          }
          const Sum base = bias + alpha * squares;
          const int64_t at = split.start(n, i) + c * split.inner;
          if constexpr (std::is_same_v<T, Fp>)
            to[at] = from[at] / uninterpreted("Pow", base, beta);
          else
            to[at] = static_cast<T>(static_cast<Sum>(from[at]) / std::pow(base, beta));
        }
      }
    }
  });
}

/// (x - mean) / sqrt(var + epsilon) * scale + bias, where all but x have one element per channel.
void batch_norm_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  const auto channel = [&](size_t i) { return per_channel(node.operand(i), g.rank()); };
  const GraphValue deviation = apply("Sqrt", {channel(4) + node.attrs().real("epsilon")});
  const GraphValue factor = channel(1) / deviation;
  Ints axes = axis_range(1, g.rank());
  axes[0] = 0;
  if (node.needs(0)) node.give(0, g * factor);
  if (node.needs(2)) node.give(2, summed(g, axes, false));
  if (node.needs(3)) node.give(3, summed(-(g * factor), axes, false));
  if (!node.needs(1) && !node.needs(4)) return;
  const GraphValue for_scale = summed(g * ((node.operand(0) - channel(3)) / deviation), axes, false);
  node.give(1, for_scale);
  if (node.needs(4))
    node.give(4, -0.5 * for_scale * node.operand(1) / (node.operand(4) + node.attrs().real("epsilon")));
}

/// Of groups of channels that are normalized together. [batch, channels, ...] is taken as [batch, groups, elements];
/// scale and bias have one element for each channel, or for each group of `per` channels.
void normalized_groups_gradient(Backward& node, int64_t groups, bool per_group) {
  const GraphValue x = node.operand(0);
  const GraphValue g = node.gradient();
  const double epsilon = node.attrs().real("epsilon");
  const Dim per_scale(per_group ? known_extent(x, 1) / groups : 1);
  const Shape& whole = x.shape();
  const Shape grouped{whole[0], Dim(groups),
                      Dim(static_cast<int64_t>(element_count(x, axis_range(1, x.rank()))) / groups)};
  Shape scaled{whole[0], node.operand(1).shape()[0], per_scale};
  scaled.insert(scaled.end(), whole.begin() + 2, whole.end());
  Ints axes = axis_range(1, scaled.size());
  axes[0] = 0;
  if (node.needs(0)) {
    const GraphValue for_normal = reshaped(reshaped(g, scaled) * per_channel(node.operand(1), scaled.size()), grouped);
    node.give(0, reshaped(normalization_gradient(reshaped(x, grouped), for_normal, {2}, epsilon), whole));
  }
  if (node.needs(1))
    node.give(1, summed(reshaped(g, scaled) * reshaped(standardized(reshaped(x, grouped), {2}, epsilon), scaled), axes,
                        false));
  if (node.needs(2)) node.give(2, summed(reshaped(g, scaled), axes, false));
}
void instance_norm_gradient(Backward& node) {
  normalized_groups_gradient(node, known_extent(node.operand(0), 1), false);
}
void group_norm_gradient(Backward& node) {
  normalized_groups_gradient(node, node.attrs().integer("num_groups"), node.attrs().integer("per_group") != 0);
}

/// The mean over `size` channels, of which `before` come before the channel; zeros count where there are none.
GraphValue mean_of_channels(const GraphValue& x, int64_t size, int64_t before) {
  const Dim rest(static_cast<int64_t>(element_count(x, axis_range(2, x.rank()))));
  const GraphValue image = reshaped(x, {x.shape()[0], Dim(1), x.shape()[1], rest});
  const GraphValue mean = x.node().call("AveragePool",
                                        {{"kernel_shape", Ints{size, 1}},
                                         {"strides", Ints{1, 1}},
                                         {"dilations", Ints{1, 1}},
                                         {"pads", Ints{before, 0, size - 1 - before, 0}},
                                         {"count_include_pad", int64_t{1}}},
                                        {image});
  return reshaped(mean, x.shape());
}

/// y = x / base^beta with base = bias + alpha mean(x^2): x also changes the bases of the channels around.
void lrn_gradient(Backward& node) {
  const Attrs& attrs = node.attrs();
  const GraphValue x = node.operand(0);
  const int64_t size = attrs.integer("size");
  const double alpha = attrs.real("alpha");
  const double beta = attrs.real("beta");
  const GraphValue base = alpha * mean_of_channels(square(x), size, (size - 1) / 2) + attrs.real("bias");
  const GraphValue direct = node.gradient() / apply("Pow", {base, number(base, beta)});
  const GraphValue around = mean_of_channels(direct * x / base, size, size / 2);
  node.give(0, direct - 2 * alpha * beta * (x * around));
}

Result<std::vector<TensorType>> infer_lrn(const OpView& view) {
  if (view.rank(0) < 2) return fail("LRN needs a rank of at least 2, got {}", view.type(0).str());
  const int64_t size = view.attrs.integer("size");
  if (size < 1 || size > (int64_t{1} << 30)) return fail("'size' of {} is out of range", size);
  return std::vector<TensorType>{view.type(0)};
}

double flops_lrn(const WorkView& view) {
  return (2 * static_cast<double>(view.attrs.integer("size")) + 4) * count(view.operands[0]);
}

/// The data, then `n` operands with one number per channel.
std::vector<OperandRole> per_channel(size_t n) {
  std::vector<OperandRole> roles(n + 1, OperandRole::PerChannel);
  roles[0] = OperandRole::Data;
  return roles;
}

}  // namespace

std::vector<OpDef> norm_ops() {
  const AttrDef epsilon = choice("epsilon", 1e-5F, {1e-5F, 0.5F});
  return {
      {.name = "BatchNormalization",
       // The momentum has no effect here, but must be written back unchanged.
       .attrs = {epsilon, {.name = "momentum", .kind = AttrKind::Float, .preset = 0.9F, .domain = AttrDomain::Fixed}},
       .min_operands = 5,
       .infer = infer_by_channel,
       .flops = flops_norm,
       .kernel = batch_norm_kernel,
       .axiom = batch_norm_axiom,
       .gradient = batch_norm_gradient,
       .traits = {Trait::RealsOnly, Trait::InPlace, Trait::Elementwise},
       .roles = per_channel(4),
       .since = 7,
       .from_onnx = batch_norm_from_onnx},
      {.name = "InstanceNormalization",
       .attrs = {epsilon},
       .min_operands = 3,
       .infer = infer_by_channel,
       .flops = flops_statistics,
       .kernel = instance_norm_kernel,
       .axiom = instance_norm_axiom,
       .gradient = instance_norm_gradient,
       .traits = {Trait::Leading},
       .roles = per_channel(2),
       .since = 6},
      {.name = "GroupNormalization",
       .attrs = {epsilon,
                 {.name = "num_groups", .kind = AttrKind::Int, .domain = AttrDomain::Divisor},
                 stash_type(21),
                 {.name = "per_group", .kind = AttrKind::Int, .preset = int64_t{0}}},
       .min_operands = 3,
       .infer = infer_group_norm,
       .flops = flops_statistics,
       .kernel = group_norm_kernel,
       .axiom = group_norm_axiom,
       .gradient = group_norm_gradient,
       .traits = {Trait::Leading},
       .since = 18,
       .from_onnx = group_norm_from_onnx,
       .to_onnx = group_norm_to_onnx},
      {.name = "LRN",
       .attrs = {{.name = "alpha", .kind = AttrKind::Float, .preset = 1e-4F},
                 {.name = "beta", .kind = AttrKind::Float, .preset = 0.75F},
                 {.name = "bias", .kind = AttrKind::Float, .preset = 1.0F},
                 {.name = "size", .kind = AttrKind::Int, .domain = AttrDomain::Values, .values = numbers({2, 1, 3})}},
       .infer = infer_lrn,
       .flops = flops_lrn,
       .kernel = lrn_kernel,
       .gradient = lrn_gradient,
       .traits = {Trait::Leading}},
  };
}

}  // namespace isomer
