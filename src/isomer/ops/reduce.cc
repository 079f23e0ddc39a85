// Reductions. In normalized form, `axes` lists the reduced axes, counted from the front and ascending. Without axes,
// nothing is reduced (but a sum of squares still squares).

#include <algorithm>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel_types.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_reduce(const OpView& view) {
  ISOMER_TRY(const auto axes, normal_axes(view.attrs.ints("axes"), view.rank(0)));
  const bool keep = view.attrs.integer("keepdims") != 0;
  Shape shape;
  for (size_t i = 0; i < view.rank(0); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced)
      shape.push_back(view.shape(0)[i]);
    else if (keep)
      shape.emplace_back(1);
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

double flops_reduce(const WorkView& view) { return count(view.operands[0]); }
double flops_reduce_twice(const WorkView& view) { return 2 * count(view.operands[0]); }

/// For each operand element, strides into the result's elements.
Result<std::vector<int64_t>> result_strides(const KernelContext& context) {
  const auto& dims = context.operands[0].dims();
  ISOMER_TRY(const auto axes, normal_axes(context.attrs.ints("axes"), dims.size()));
  std::vector<int64_t> kept = dims;
  for (const size_t axis : axes) kept[axis] = 1;
  return broadcast_strides(kept, dims);
}

/// cells[i] = fold of step over the operand elements of result i, starting from `start`.
template <class T, class Sum, class Step>
std::vector<Sum> fold(const KernelContext& context, const std::vector<int64_t>& strides, size_t cells, Sum start,
                      Step step) {
  std::vector<Sum> out(cells, start);
  const auto x = context.operands[0].data<T>();
  size_t n = 0;
  for_each_position(context.operands[0].dims(), {strides}, [&](const int64_t* at) {
    const auto cell = static_cast<size_t>(at[0]);
    out[cell] = step(out[cell], static_cast<Sum>(x[n++]), cell);
  });
  return out;
}

/// result = finish(fold, number of elements).
template <class T, class Sum, class Step, class Finish>
Status reduce(KernelContext& context, Sum start, Step step, Finish finish) {
  ISOMER_TRY(const auto strides, result_strides(context));
  const auto y = new_result(context).mutable_data<T>();
  const auto cells = fold<T, Sum>(context, strides, y.size(), start, step);
  const auto elements = static_cast<size_t>(context.operands[0].element_count());
  const Sum n = from_count<Sum>(static_cast<int64_t>(y.empty() ? 0 : elements / y.size()));
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(finish(cells[i], n));
  return {};
}

constexpr auto kAsIs = [](auto sum, auto) { return sum; };

/// The kernel that starts from SumOf<T>(0), goes on with step(sum, element), and returns finish(sum, number of
/// elements). The functions capture nothing.
template <template <class> class SumOf, class Step, class Finish = decltype(kAsIs)>
KernelFn summing(Step /*step*/, Finish /*finish*/ = {}) {
  return [](KernelContext& context) {
    return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
      using Sum = SumOf<T>;
      return reduce<T, Sum>(
          context, Sum(0), [](Sum a, Sum b, size_t) -> Sum { return Step()(a, b); }, Finish());
    });
  };
}

constexpr auto kPlus = [](auto a, auto b) { return sum_of(a, b); };
constexpr auto kRootOf = [](auto sum, auto) { return scalar_sqrt(sum); };
constexpr auto kMeanOf = []<class Sum>(Sum sum, Sum n) -> Sum {
  // Integers and the field have no NaN for the mean of no elements.
  if constexpr (!std::is_floating_point_v<Sum>)
    if (n == Sum(0)) return Sum(0);
  return static_cast<Sum>(sum / n);
};

Status prod_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    using Sum = Accumulator<T>;
    return reduce<T, Sum>(
        context, Sum(1), [](Sum a, Sum b, size_t) { return product_of(a, b); }, kAsIs);
  });
}

/// The extreme of no elements is the last number of the stored type.
template <class T>
T last_stored(const KernelContext& context, T last) {
  if constexpr (std::is_same_v<T, int64_t>) return nearest_stored(last, context.stored_dtype(0));
  return last;
}

Status reduce_max_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    return reduce<T, T>(
        context, last_stored(context, lattice_bottom<T>()), [](T a, T b, size_t) { return lattice_max(a, b); }, kAsIs);
  });
}

Status reduce_min_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    return reduce<T, T>(
        context, last_stored(context, lattice_top<T>()), [](T a, T b, size_t) { return lattice_min(a, b); }, kAsIs);
  });
}

/// Sums for these reductions are real numbers, also for integers.
template <class T>
using RealSum = std::conditional_t<std::is_same_v<T, Fp>, Fp, double>;

template <class Sum>
Sum log_of(Sum x) {
  return scalar_function("Log", x, [](auto v) { return std::log(v); });
}

/// log(sum(exp(x))), shifted by each cell's maximum for floating-point numbers, and unshifted in the field.
Status log_sum_exp_kernel(KernelContext& context) {
  ISOMER_TRY(const auto strides, result_strides(context));
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    using Sum = RealSum<T>;
    const auto y = new_result(context).mutable_data<T>();
    std::vector<Sum> shift(y.size(), Sum(0));
    if constexpr (!std::is_same_v<T, Fp>) {
      shift = fold<T, Sum>(context, strides, y.size(), lattice_bottom<Sum>(),
                           [](Sum a, Sum b, size_t) { return lattice_max(a, b); });
      for (Sum& s : shift)
        if (!std::isfinite(s)) s = 0;
    }
    const auto sums = fold<T, Sum>(context, strides, y.size(), Sum(0), [&](Sum a, Sum b, size_t cell) {
      return a + scalar_function("Exp", b - shift[cell], [](auto v) { return std::exp(v); });
    });
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(log_of(sums[i]) + shift[i]);
  });
}

/// The element of the result at an index: the fold of the operand over these axes (the index's entries for them are
/// ignored).
using SymbolicFold = Element (*)(Scope&, const SymbolicTensor&, const std::vector<size_t>&, const SymbolicIndex&);

template <SymbolicFold fold_of>
void reduce_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<size_t> axes = known_axes(axiom, "axes", x.rank());
  const bool keep = axiom.known("keepdims") != 0;
  std::vector<Dim> shape;
  std::vector<size_t> kept;
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) kept.push_back(i);
    if (!reduced || keep) shape.push_back(reduced ? Dim(1) : x.shape[i]);
  }
  const auto at = [&scope = axiom.scope, x, axes, kept, keep](const SymbolicIndex& index) {
    SymbolicIndex from(x.rank(), Dim(0));
    for (size_t i = 0; i < kept.size(); ++i) from[kept[i]] = index[keep ? kept[i] : i];
    return fold_of(scope, x, axes, from);
  };
  axiom.results.push_back({std::move(shape), at, x.real});
}

Element fold_sum(Scope& scope, const SymbolicTensor& x, const std::vector<size_t>& axes, const SymbolicIndex& index) {
  return sum_over(scope, x.shape, index, axes, x.at);
}
Element fold_mean(Scope& scope, const SymbolicTensor& x, const std::vector<size_t>& axes, const SymbolicIndex& index) {
  if (x.real) return mean(scope, x, index, axes);
  Dim count(1);
  for (const size_t axis : axes) count = count * x.shape[axis];
  return function("Div", {fold_sum(scope, x, axes, index), Element::integer(count)});
}
template <bool largest>
Element fold_extreme(Scope& scope, const SymbolicTensor& x, const std::vector<size_t>& axes,
                     const SymbolicIndex& index) {
  std::vector<Dim> extents;
  extents.reserve(axes.size());
  for (const size_t axis : axes) extents.push_back(x.shape[axis]);
  return scope.extreme(largest ? "max" : "min", extents, [&](const SymbolicIndex& k) {
    SymbolicIndex at = index;
    for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = k[i];
    return std::optional(x.at(at));
  });
}
Element fold_squares(Scope& scope, const SymbolicTensor& x, const std::vector<size_t>& axes,
                     const SymbolicIndex& index) {
  return sum_over(scope, x.shape, index, axes,
                  [&](const SymbolicIndex& at) { return scope.times(x.at(at), x.at(at)); });
}

Element fold_l2(Scope& scope, const SymbolicTensor& x, const std::vector<size_t>& axes, const SymbolicIndex& index) {
  // Squares of integers are real numbers in this formula and do not wrap around, and the root is rounded.
  if (!x.real) throw GaveUp{"a root of what may be integers"};
  return function("Sqrt", {fold_squares(scope, x, axes, index)});
}

/// Reads `axes` in the form of this opset (an attribute, or a constant operand since opset `Since`) and completes them.
template <int Since>
Status reduce_from_onnx(OnnxForm& form) {
  const auto* noop = form.get<int64_t>("noop_with_empty_axes");
  const bool nothing = noop != nullptr && *noop != 0;
  form.attrs.erase("noop_with_empty_axes");
  const Shape* shape = form_shape(form, 0);
  if (shape == nullptr) return form.leave_opaque("its rank is not known");
  Ints axes;
  if (form.opset >= Since && form.has(1)) {
    if (form.operands[1].constant.empty()) return form.leave_opaque("its parameter 'axes' is computed at run time");
    ISOMER_TRY(axes, int_elements(form.operands[1].constant));
    form.operands[1] = FormOperand();
  } else if (form.attrs.contains("axes")) {
    const Ints* given = form.get<Ints>("axes");
    if (given == nullptr) return fail("attribute 'axes' must be integers");
    axes = *given;
  }
  ISOMER_TRY(const auto normal, normal_axes(axes, shape->size()));
  axes.assign(normal.begin(), normal.end());
  if (axes.empty() && !nothing)
    for (size_t i = 0; i < shape->size(); ++i) axes.push_back(static_cast<int64_t>(i));
  std::sort(axes.begin(), axes.end());
  form.attrs["axes"] = std::move(axes);
  return {};
}

/// An empty list of axes reduces nothing only with noop_with_empty_axes. At new opsets, `axes` is already an operand
/// here.
template <int Since>
Status reduce_to_onnx(OnnxForm& form) {
  const Ints* attribute = form.get<Ints>("axes");
  const bool empty = attribute != nullptr ? attribute->empty()
                                          : form.operands.size() < 2 || form.operands[1].constant.element_count() == 0;
  if (!empty) return {};
  if (form.opset < Since) return form.leave_opaque(fmt::format("{} over no axes needs opset {}", form.op_type, Since));
  form.attrs["noop_with_empty_axes"] = int64_t{1};
  return {};
}

/// The reduced axes.
Ints reduced_axes(Backward& node) {
  Ints axes = node.attrs().ints("axes");
  for (int64_t& axis : axes)
    if (axis < 0) axis += static_cast<int64_t>(node.operand(0).rank());
  return axes;
}
/// A term of the result's shape, so that it broadcasts to the operand.
GraphValue kept(Backward& node, const GraphValue& term) {
  const Ints axes = reduced_axes(node);
  return node.attrs().integer("keepdims") != 0 || axes.empty() ? term : unsqueezed(term, axes);
}

void reduce_sum_gradient(Backward& node) {
  node.give(0, expanded(kept(node, node.gradient()), node.operand(0).shape()));
}
void reduce_mean_gradient(Backward& node) {
  const GraphValue share = kept(node, node.gradient()) / element_count(node.operand(0), reduced_axes(node));
  node.give(0, expanded(share, node.operand(0).shape()));
}
void reduce_extreme_gradient(Backward& node) {
  node.give(
      0, shared_by_equals(node.operand(0), kept(node, node.result()), kept(node, node.gradient()), reduced_axes(node)));
}
void reduce_l1_gradient(Backward& node) {
  node.give(0, kept(node, node.gradient()) * apply("Sign", {node.operand(0)}));
}
/// 0 where all elements are 0.
void reduce_l2_gradient(Backward& node) {
  const GraphValue share = masked(above(node.result(), 0), node.gradient() / node.result());
  node.give(0, kept(node, share) * node.operand(0));
}
void reduce_squares_gradient(Backward& node) { node.give(0, 2 * kept(node, node.gradient()) * node.operand(0)); }
void reduce_log_sum_gradient(Backward& node) {
  const GraphValue share =
      node.gradient() / summed(node.operand(0), reduced_axes(node), node.attrs().integer("keepdims") != 0);
  node.give(0, expanded(kept(node, share), node.operand(0).shape()));
}
void reduce_log_sum_exp_gradient(Backward& node) {
  node.give(0, kept(node, node.gradient()) * exp(node.operand(0) - kept(node, node.result())));
}

/// A reduction whose axes are an operand since opset `Since`.
template <int Since = 18>
OpDef reduction(const std::string& name, KernelFn kernel, GradientFn gradient, AxiomFn axiom = nullptr,
                FlopsFn flops = flops_reduce) {
  return {.name = name,
          .attrs = {{.name = "axes", .kind = AttrKind::Ints, .domain = AttrDomain::Axes},
                    {.name = "keepdims", .kind = AttrKind::Int, .preset = int64_t{1}}},
          .infer = infer_reduce,
          .flops = flops,
          .kernel = kernel,
          .axiom = axiom,
          .gradient = gradient,
          .traits = {Trait::Leading},
          .params = {{.index = 1, .attr = "axes", .since = Since}},
          .from_onnx = reduce_from_onnx<Since>,
          .to_onnx = reduce_to_onnx<Since>};
}

}  // namespace

std::vector<OpDef> reduce_ops() {
  return {
      reduction<13>("ReduceSum", summing<Accumulator>(kPlus), reduce_sum_gradient, reduce_axiom<fold_sum>),
      reduction("ReduceMean", summing<Accumulator>(kPlus, kMeanOf), reduce_mean_gradient, reduce_axiom<fold_mean>),
      reduction("ReduceProd", prod_kernel, nullptr),
      reduction("ReduceMax", reduce_max_kernel, reduce_extreme_gradient, reduce_axiom<fold_extreme<true>>),
      reduction("ReduceMin", reduce_min_kernel, reduce_extreme_gradient, reduce_axiom<fold_extreme<false>>),
      reduction("ReduceL1", summing<Accumulator>([](auto a, auto b) { return sum_of(a, scalar_abs(b)); }),
                reduce_l1_gradient, nullptr, flops_reduce_twice),
      reduction("ReduceL2", summing<RealSum>([](auto a, auto b) { return a + b * b; }, kRootOf), reduce_l2_gradient,
                reduce_axiom<fold_l2>, flops_reduce_twice),
      reduction("ReduceSumSquare", summing<Accumulator>([](auto a, auto b) { return multiply_add(a, b, b); }),
                reduce_squares_gradient, reduce_axiom<fold_squares>, flops_reduce_twice),
      reduction("ReduceLogSum",
                summing<RealSum>([](auto a, auto b) { return a + b; }, [](auto sum, auto) { return log_of(sum); }),
                reduce_log_sum_gradient),
      reduction("ReduceLogSumExp", log_sum_exp_kernel, reduce_log_sum_exp_gradient, nullptr, flops_reduce_twice),
  };
}

}  // namespace isomer
