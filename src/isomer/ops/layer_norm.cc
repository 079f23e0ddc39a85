// Normalizations over trailing or chosen axes.

#include <algorithm>

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/norm.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

double flops_layer_norm(const WorkView& view) { return 8 * count(view.operands[0]); }

/// Fails unless operand i broadcasts to exactly the shape of operand 0.
Status want_broadcast(const OpView& view, size_t i) {
  if (!view.has(i)) return {};
  const Shape& x = view.shape(0);
  const Shape& s = view.shape(i);
  bool fits = s.size() <= x.size();
  for (size_t a = 0; fits && a < s.size(); ++a) {
    const Dim& have = s[s.size() - 1 - a];
    const Dim& want = x[x.size() - 1 - a];
    fits = have.is(1) || !have.is_const() || !want.is_const() || have == want;
  }
  if (!fits) return fail("operand {} of {}, {}, does not broadcast to {}", i, view.op.name, shape_str(s), shape_str(x));
  return {};
}

/// Operands: X, scale and optionally bias. Results: Y and, on request, mean and inverse deviation in the type of
/// stash_type.
Result<std::vector<TensorType>> infer_layer_norm(const OpView& view) {
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  for (size_t i = 1; i < view.operands.size(); ++i) ISOMER_CHECK(want_broadcast(view, i));
  const auto stash = dtype_from_onnx(static_cast<int>(view.attrs.integer("stash_type")));
  if (!stash || !is_real(*stash))
    return fail("stash_type {} is not a type of real numbers", view.attrs.integer("stash_type"));
  std::vector<TensorType> types{view.type(0)};
  Shape stats = view.shape(0);
  std::fill(stats.begin() + static_cast<std::ptrdiff_t>(axis), stats.end(), Dim(1));
  const DType dtype = view.dtype(0) == DType::Field ? DType::Field : *stash;
  while (types.size() < view.num_results) types.emplace_back(dtype, stats);
  return types;
}

/// Calls row(first, size) for each run of elements that is normalized together.
template <class F>
void for_each_normalized(const KernelContext& context, F row) {
  const auto& dims = context.operands[0].dims();
  const int64_t axis = context.attrs.integer("axis");
  const auto rank = static_cast<int64_t>(dims.size());
  size_t rows = 1;
  for (int64_t i = 0; i < (axis < 0 ? axis + rank : axis); ++i)
    rows *= static_cast<size_t>(dims[static_cast<size_t>(i)]);
  const auto total = static_cast<size_t>(context.operands[0].element_count());
  for (size_t r = 0; r < rows; ++r) row(r, total / rows);
}

/// y = normalized * scale + bias, with scale and bias broadcast to x.
template <class T>
void scale_and_shift(KernelContext& context, const std::vector<Accumulator<T>>& normalized) {
  using Sum = Accumulator<T>;
  const auto& dims = context.operands[0].dims();
  const auto scale = real_elements<Sum>(context.operands[1]);
  const auto bias = context.has(2) ? real_elements<Sum>(context.operands[2]) : std::vector<Sum>{Sum(0)};
  const std::vector<int64_t> none(dims.size(), 0);
  const auto y = context.results[0].mutable_data<T>();
  size_t n = 0;
  for_each_position(
      dims,
      {broadcast_strides(context.operands[1].dims(), dims),
       context.has(2) ? broadcast_strides(context.operands[2].dims(), dims) : none},
      [&](const int64_t* at) {
        y[n] = static_cast<T>(normalized[n] * scale[static_cast<size_t>(at[0])] + bias[static_cast<size_t>(at[1])]);
        ++n;
      });
}

Status layer_norm_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    const auto x = context.operands[0].data<T>();
    const auto epsilon = scalar<Sum>(context.attrs.real("epsilon"));
    for (size_t i = 0; i < context.types.size(); ++i) new_result(context);
    std::vector<Sum> normalized(x.size());
    for_each_normalized(context, [&](size_t row, size_t size) {
      const auto stats = moments<T>(x.subspan(row * size, size));
      const Sum inverse = Sum(1) / scalar_sqrt(stats.variance + epsilon);
      for (size_t i = row * size; i < (row + 1) * size; ++i)
        normalized[i] = (static_cast<Sum>(x[i]) - stats.mean) * inverse;
      if (context.results.size() > 1) set_real(context.results[1], row, stats.mean);
      if (context.results.size() > 2) set_real(context.results[2], row, inverse);
    });
    scale_and_shift<T>(context, normalized);
  });
}

/// All axes from the node's axis on.
std::vector<size_t> trailing_axes(const Axiom& axiom, size_t rank) {
  std::vector<size_t> axes;
  for (size_t i = axiom.axis("axis", rank); i < rank; ++i) axes.push_back(i);
  return axes;
}

void layer_norm_axiom(Axiom& axiom) {
  if (axiom.num_results > 1) throw GaveUp{"statistics of LayerNormalization"};
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<size_t> axes = trailing_axes(axiom, x.rank());
  const std::vector<Dim> extents(x.shape.end() - static_cast<std::ptrdiff_t>(axes.size()), x.shape.end());
  std::optional<SymbolicTensor> bias;
  if (axiom.has(2)) bias = broadcast_to(axiom.scope, axiom.operand(2), x.shape);
  const auto at = [&scope = axiom.scope, x, axes, extents, bias, epsilon = axiom.number("epsilon"),
                   scale = broadcast_to(axiom.scope, axiom.operand(1), x.shape)](const SymbolicIndex& index) {
    const auto mean_of = [&](const std::function<Element(const Element&)>& f) {
      const auto term = [&](const SymbolicIndex& from) { return f(x.at(from)); };
      return scope.times(inverse_product(scope, extents), sum_over(scope, x.shape, index, axes, term));
    };
    return normalized(scope, x.at(index), mean_of, epsilon, scale.at(index), bias ? bias->at(index) : Element(0));
  };
  axiom.results.push_back({x.shape, at, x.real});
}

/// x / sqrt(mean of squares + epsilon) * scale.
Status rms_norm_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    const auto x = context.operands[0].data<T>();
    const auto epsilon = scalar<Sum>(context.attrs.real("epsilon"));
    new_result(context);
    std::vector<Sum> normalized(x.size());
    for_each_normalized(context, [&](size_t row, size_t size) {
      Sum squares(0);
      for (const T v : x.subspan(row * size, size)) squares += static_cast<Sum>(v) * static_cast<Sum>(v);
      const Sum inverse = Sum(1) / scalar_sqrt(squares / from_count<Sum>(static_cast<int64_t>(size)) + epsilon);
      for (size_t i = row * size; i < (row + 1) * size; ++i) normalized[i] = static_cast<Sum>(x[i]) * inverse;
    });
    scale_and_shift<T>(context, normalized);
  });
}

void rms_norm_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<size_t> axes = trailing_axes(axiom, x.rank());
  const auto at = [&scope = axiom.scope, x, axes, epsilon = axiom.number("epsilon"),
                   scale = broadcast_to(axiom.scope, axiom.operand(1), x.shape)](const SymbolicIndex& index) {
    const SymbolicTensor squares = {
        x.shape, [&](const SymbolicIndex& from) { return scope.times(x.at(from), x.at(from)); }, x.real};
    const Element root = function("Sqrt", {mean(scope, squares, index, axes) + epsilon});
    return scope.times(scope.times(x.at(index), inverse(root)), scale.at(index));
  };
  axiom.results.push_back({x.shape, at, x.real});
}

/// The axes that are normalized together.
Ints normalized_axes(Backward& node) {
  const auto rank = static_cast<int64_t>(node.operand(0).rank());
  return axis_range(static_cast<size_t>((node.attrs().integer("axis") + rank) % rank), node.operand(0).rank());
}

void layer_norm_gradient(Backward& node) {
  for (size_t i = 1; i < node.num_results(); ++i)
    if (node.has_gradient(i)) node.refuse("gradients through the mean and the deviation are not supported");
  const GraphValue x = node.operand(0);
  const GraphValue g = node.gradient();
  const Ints axes = normalized_axes(node);
  const double epsilon = node.attrs().real("epsilon");
  if (node.needs(0)) node.give(0, normalization_gradient(x, g * node.operand(1), axes, epsilon));
  if (node.needs(1)) node.give(1, g * standardized(x, axes, epsilon));
  node.give(2, g);
}

/// y = x / r scale with r = sqrt(mean(x^2) + epsilon).
void rms_norm_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  const Ints axes = normalized_axes(node);
  const GraphValue root = apply("Sqrt", {averaged(square(x), axes) + node.attrs().real("epsilon")});
  const GraphValue normal = x / root;
  if (node.needs(0)) {
    const GraphValue g = node.gradient() * node.operand(1);
    node.give(0, (g - normal * averaged(g * normal, axes)) / root);
  }
  if (node.needs(1)) node.give(1, node.gradient() * normal);
}

Result<std::vector<TensorType>> infer_lp_norm(const OpView& view) {
  ISOMER_TRY([[maybe_unused]] const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  const int64_t p = view.attrs.integer("p");
  if (p != 1 && p != 2) return fail("LpNormalization of p = {}", p);
  return std::vector<TensorType>{view.type(0)};
}

/// x / |x|_p along an axis; 0 where the norm is 0.
Status lp_norm_kernel(KernelContext& context) {
  const bool squares = context.attrs.integer("p") == 2;
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    const AxisSplit split = axis_split(context.operands[0].dims(), context.attrs.integer("axis"));
    const T* x = context.operands[0].data<T>().data();
    T* y = new_result(context).mutable_data<T>().data();
    for (int64_t line = 0; line < split.outer * split.inner; ++line) {
      const int64_t first = split.start(line / split.inner, line % split.inner);
      Sum sum(0);
      for (int64_t i = 0; i < split.extent; ++i) {
        const auto v = static_cast<Sum>(x[first + i * split.inner]);
        sum += squares ? v * v : scalar_abs(v);
      }
      const Sum norm = squares ? scalar_sqrt(sum) : sum;
      for (int64_t i = first; i < first + split.extent * split.inner; i += split.inner)
        y[i] = norm == Sum(0) ? T(0) : static_cast<T>(static_cast<Sum>(x[i]) / norm);
    }
  });
}

Result<std::vector<TensorType>> infer_mvn(const OpView& view) {
  ISOMER_TRY([[maybe_unused]] const auto axes, normal_axes(view.attrs.ints("axes"), view.rank(0)));
  return std::vector<TensorType>{view.type(0)};
}

/// (x - mean) / (deviation + 1e-9) over the given axes.
Status mvn_kernel(KernelContext& context) {
  return for_real(context.operands[0].dtype(), [&]<class T>() -> Status {
    using Sum = Accumulator<T>;
    const auto& dims = context.operands[0].dims();
    ISOMER_TRY(const auto axes, normal_axes(context.attrs.ints("axes"), dims.size()));
    std::vector<int64_t> kept = dims;
    for (const size_t axis : axes) kept[axis] = 1;
    const auto to_kept = broadcast_strides(kept, dims);
    const auto x = context.operands[0].data<T>();
    const auto y = new_result(context).mutable_data<T>();
    size_t cells = 1;
    for (const int64_t d : kept) cells *= static_cast<size_t>(d);
    if (x.empty()) return {};
    std::vector<std::vector<T>> sets(cells);
    size_t n = 0;
    for_each_position(dims, {to_kept}, [&](const int64_t* at) { sets[static_cast<size_t>(at[0])].push_back(x[n++]); });
    std::vector<Moments<Sum>> stats;
    stats.reserve(sets.size());
    for (const auto& set : sets) stats.push_back(moments<T>(std::span<const T>(set)));
    n = 0;
    for_each_position(dims, {to_kept}, [&](const int64_t* at) {
      const auto& [mean, variance] = stats[static_cast<size_t>(at[0])];
      y[n] = static_cast<T>((static_cast<Sum>(x[n]) - mean) / (scalar_sqrt(variance) + scalar<Sum>(1e-9F)));
      ++n;
    });
    return {};
  });
}

Status last_axis_from_onnx(OnnxForm& form) { return normalize_axis(form, "axis", -1); }

}  // namespace

Element normalized(Scope& scope, const Element& x,
                   const std::function<Element(const std::function<Element(const Element&)>&)>& mean_of,
                   const Element& epsilon, const Element& scale, const Element& bias) {
  const Element mean = mean_of([](const Element& v) { return v; });
  // The mean of squares minus the square of the mean, which is a shorter polynomial.
  const Element variance = mean_of([&](const Element& v) { return scope.times(v, v); }) - scope.times(mean, mean);
  const Element factor = inverse(function("Sqrt", {variance + epsilon}));
  return scope.times(scope.times(x - mean, factor), scale) + bias;
}

std::vector<OpDef> layer_norm_ops() {
  const AttrDef axis{.name = "axis", .kind = AttrKind::Int, .preset = int64_t{-1}, .domain = AttrDomain::Axis};
  const AttrDef epsilon = choice("epsilon", 1e-5F, {1e-5F, 0.5F});
  return {
      {.name = "LayerNormalization",
       .attrs = {axis, epsilon, stash_type()},
       .min_operands = 2,
       .max_operands = 3,
       .max_results = 3,
       .infer = infer_layer_norm,
       .flops = flops_layer_norm,
       .kernel = layer_norm_kernel,
       .axiom = layer_norm_axiom,
       .gradient = layer_norm_gradient,
       .traits = {Trait::RealsOnly, Trait::Leading},
       .since = 17,
       .from_onnx = last_axis_from_onnx},
      {.name = "RMSNormalization",
       .attrs = {axis, epsilon, stash_type()},
       .min_operands = 2,
       .infer = infer_layer_norm,
       .flops = flops_layer_norm,
       .kernel = rms_norm_kernel,
       .axiom = rms_norm_axiom,
       .gradient = rms_norm_gradient,
       .traits = {Trait::Leading},
       .since = 23,
       .from_onnx = last_axis_from_onnx},
      {.name = "LpNormalization",
       .attrs = {axis, choice("p", int64_t{2}, numbers({2, 1, 3}))},
       .infer = infer_lp_norm,
       .flops = flops_layer_norm,
       .kernel = lp_norm_kernel,
       .traits = {Trait::Leading},
       .from_onnx = last_axis_from_onnx},
      {.name = "MeanVarianceNormalization",
       .attrs = {{.name = "axes", .kind = AttrKind::Ints, .preset = Ints{0, 2, 3}, .domain = AttrDomain::Axes}},
       .infer = infer_mvn,
       .flops = flops_layer_norm,
       .kernel = mvn_kernel,
       .since = 9},
  };
}

}  // namespace isomer
