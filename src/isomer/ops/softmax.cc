// Softmax, its logarithm, and hardmax. In normalized form, the axis counts from the end (-1 is the last one). Before
// opset 13, these operators join all axes from `axis` on, so only the last axis means the same at every opset.

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/scalars.h"

namespace isomer {
namespace {

/// Since this opset, the operators work along a single axis.
constexpr int kOneAxisSince = 13;

Result<std::vector<TensorType>> infer_softmax(const OpView& view) {
  ISOMER_CHECK(normal_axis(view.attrs.integer("axis"), view.rank(0)));
  return infer_same_real(view);
}

/// Calls `line(from, to)` for each line along the axis; lines are copied into `from` and out of `to`.
template <class F>
Status along_axis(KernelContext& context, F line) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    const Tensor& x = context.operands[0];
    const auto axis = *normal_axis(context.attrs.integer("axis"), x.dims().size());
    const auto extent = static_cast<size_t>(x.dims()[axis]);
    const auto stride = static_cast<size_t>(strides_of(x.dims())[axis]);
    const auto data = x.data<T>();
    const auto out = new_result(context).mutable_data<T>();
    std::vector<T> from(extent);
    std::vector<T> to(extent);
    for (size_t outer = 0; outer < data.size(); outer += extent * stride) {
      for (size_t inner = 0; inner < stride; ++inner) {
        for (size_t i = 0; i < extent; ++i) from[i] = data[outer + i * stride + inner];
        line.template operator()<T>(std::as_const(from), to);
        for (size_t i = 0; i < extent; ++i) out[outer + i * stride + inner] = to[i];
      }
    }
  });
}

/// The number subtracted before exp to avoid overflow: the maximum, or 0 in the field.
template <class T>
Accumulator<T> shift_of(const std::vector<T>& from) {
  if constexpr (std::is_same_v<T, Fp>)
    return T(0);
  else
    return static_cast<Accumulator<T>>(*std::max_element(from.begin(), from.end()));
}

template <class T>
Accumulator<T> exp_sum(const std::vector<T>& from, Accumulator<T> shift) {
  Accumulator<T> sum(0);
  for (const T v : from) sum += scalar_exp<Accumulator<T>>(static_cast<Accumulator<T>>(v) - shift);
  return sum;
}

Status softmax_kernel(KernelContext& context) {
  return along_axis(context, []<class T>(const std::vector<T>& from, std::vector<T>& to) {
    using A = Accumulator<T>;
    const A shift = shift_of(from);
    const A sum = exp_sum(from, shift);
    for (size_t i = 0; i < from.size(); ++i)
      to[i] = static_cast<T>(scalar_exp<A>(static_cast<A>(from[i]) - shift) / sum);
  });
}

Element exp_sum(Scope& scope, const SymbolicTensor& x, const SymbolicIndex& index, size_t axis) {
  return sum_over(scope, x.shape, index, {axis}, [&](const SymbolicIndex& at) { return function("Exp", {x.at(at)}); });
}

void softmax_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const auto at = [&scope = axiom.scope, x, axis = axiom.axis("axis", x.rank())](const SymbolicIndex& index) {
    return scope.times(function("Exp", {x.at(index)}), inverse(exp_sum(scope, x, index, axis)));
  };
  axiom.results.push_back({x.shape, at});
}

void log_softmax_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const auto at = [&scope = axiom.scope, x, axis = axiom.axis("axis", x.rank())](const SymbolicIndex& index) {
    return x.at(index) - function("Log", {exp_sum(scope, x, index, axis)});
  };
  axiom.results.push_back({x.shape, at});
}

Status log_softmax_kernel(KernelContext& context) {
  return along_axis(context, []<class T>(const std::vector<T>& from, std::vector<T>& to) {
    using A = Accumulator<T>;
    const A shift = shift_of(from);
    const A log_sum = scalar_log<A>(exp_sum(from, shift));
    for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(static_cast<A>(from[i]) - shift - log_sum);
  });
}

/// 1 at the first maximum, 0 elsewhere.
Status hardmax_kernel(KernelContext& context) {
  return along_axis(context, []<class T>(const std::vector<T>& from, std::vector<T>& to) {
    size_t best = 0;
    for (size_t i = 1; i < from.size(); ++i)
      if (scalar_greater(from[i], from[best])) best = i;
    for (size_t i = 0; i < to.size(); ++i) to[i] = T(i == best ? 1 : 0);
  });
}

/// The only axis from `axis` on whose extent is not known to be 1; nullopt if there are several.
std::optional<size_t> only_axis(const Shape& shape, size_t axis) {
  std::optional<size_t> found;
  for (size_t i = axis; i < shape.size(); ++i) {
    if (shape[i].is(1)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found ? found : shape.size() - 1;
}

Status softmax_from_onnx(OnnxForm& form) {
  const bool one_axis = form.opset >= kOneAxisSince;
  if (form.attrs.contains("axis") && form.get<int64_t>("axis") == nullptr)
    return fail("attribute 'axis' must be of kind int");
  const int64_t axis = form.attrs.contains("axis") ? *form.get<int64_t>("axis") : one_axis ? -1 : 1;
  const Shape* shape = form_shape(form, 0);
  if (axis == -1) {
    form.attrs["axis"] = axis;
    return {};
  }
  if (shape == nullptr) return form.leave_opaque("its rank is not known");
  const auto rank = static_cast<int64_t>(shape->size());
  if (!one_axis && axis == rank) return form.leave_opaque("it works on single elements");
  ISOMER_TRY(size_t front, normal_axis(axis, shape->size()));
  if (!one_axis) {
    const auto only = only_axis(*shape, front);
    if (!only) return form.leave_opaque("it joins several axes");
    front = *only;
  }
  form.attrs["axis"] = static_cast<int64_t>(front) - rank;
  return {};
}

Status softmax_to_onnx(OnnxForm& form) {
  const auto* axis = form.get<int64_t>("axis");
  if (form.opset < kOneAxisSince && axis != nullptr && *axis != -1)
    form.obstacle = fmt::format("{} along another axis than the last needs opset 13", form.op_type);
  return {};
}

void softmax_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  const GraphValue y = node.result();
  node.give(0, y * (g - summed(g * y, {node.attrs().integer("axis")}, true)));
}
void log_softmax_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  node.give(0, g - exp(node.result()) * summed(g, {node.attrs().integer("axis")}, true));
}

OpDef softmax_like(std::string name, KernelFn kernel, FlopsFn flops, GradientFn gradient, AxiomFn axiom = nullptr,
                   TraitSet traits = {}) {
  return {.name = std::move(name),
          .attrs = {{.name = "axis",
                     .kind = AttrKind::Int,
                     .preset = int64_t{-1},
                     .always_written = true,
                     .domain = AttrDomain::Axis}},
          .infer = infer_softmax,
          .flops = flops,
          .kernel = kernel,
          .axiom = axiom,
          .gradient = gradient,
          .traits = traits.with(Trait::Leading),
          .from_onnx = softmax_from_onnx,
          .to_onnx = softmax_to_onnx};
}

}  // namespace

std::vector<OpDef> softmax_ops() {
  constexpr FlopsFn kFunction = flops_each<static_cast<int>(kFunctionFlops) + 3>;
  return {softmax_like("Softmax", softmax_kernel, kFunction, softmax_gradient, softmax_axiom, {Trait::RealsOnly}),
          softmax_like("LogSoftmax", log_softmax_kernel, kFunction, log_softmax_gradient, log_softmax_axiom),
          softmax_like("Hardmax", hardmax_kernel, flops_per_element, zero_gradient)};
}

}  // namespace isomer
