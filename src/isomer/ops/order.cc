// Operators that compare the elements of a line: the position of the extremes, the largest ones. Over the field the
// order is that of the residues (see lattice_max).

#include <algorithm>
#include <numeric>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// A total order up to equality; NaN is above everything, as in NumPy.
template <class T>
bool above(T a, T b) {
  if constexpr (std::is_same_v<T, Fp>)
    return a.residue() > b.residue();
  else if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a) ? !std::isnan(b) : a > b;
  else
    return a > b;
}

Result<std::vector<TensorType>> infer_arg(const OpView& view) {
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  Shape shape = view.shape(0);
  if (shape[axis].is(0)) return fail("{} over no elements", view.op.name);
  if (view.attrs.integer("keepdims") != 0)
    shape[axis] = Dim(1);
  else
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return std::vector<TensorType>{{DType::Int64, std::move(shape)}};
}

double flops_operand(const WorkView& view) { return count(view.operands[0]); }

/// Position along the axis of the first (or last) element such that no other element is `better`.
template <class T, class Better>
void arg_extreme(KernelContext& context, Better better) {
  const AxisSplit split = axis_split(context.operands[0].dims(), context.attrs.integer("axis"));
  const bool last = context.attrs.integer("select_last_index") != 0;
  const T* x = context.operands[0].data<T>().data();
  int64_t* y = new_result(context).mutable_data<int64_t>().data();
  for (int64_t line = 0; line < split.outer * split.inner; ++line) {
    const T* from = x + split.start(line / split.inner, line % split.inner);
    int64_t best = 0;
    for (int64_t i = 1; i < split.extent; ++i) {
      const T value = from[i * split.inner];
      const T champion = from[best * split.inner];
      if (better(value, champion) || (last && !better(champion, value))) best = i;
    }
    *y++ = best;
  }
}

Status arg_max_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() { arg_extreme<T>(context, above<T>); });
}

Status arg_min_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(),
                     [&]<class T>() { arg_extreme<T>(context, [](T a, T b) { return above(b, a); }); });
}

/// Values and their positions along the axis.
Result<std::vector<TensorType>> infer_top_k(const OpView& view) {
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  const int64_t k = view.attrs.integer("k");
  Shape shape = view.shape(0);
  if (k < 0 || (shape[axis].is_const() && k > shape[axis].value()))
    return fail("the first {} of {} elements", k, shape[axis].str());
  shape[axis] = Dim(k);
  return std::vector<TensorType>{{view.dtype(0), shape}, {DType::Int64, shape}};
}

Status top_k_kernel(KernelContext& context) {
  const AxisSplit split = axis_split(context.operands[0].dims(), context.attrs.integer("axis"));
  const int64_t k = context.attrs.integer("k");
  const bool largest = context.attrs.integer("largest") != 0;
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    const T* x = context.operands[0].data<T>().data();
    new_result(context);
    new_result(context);
    T* values = context.results[0].mutable_data<T>().data();
    int64_t* places = context.results[1].mutable_data<int64_t>().data();
    std::vector<int64_t> order(static_cast<size_t>(split.extent));
    for (int64_t line = 0; line < split.outer * split.inner; ++line) {
      const int64_t o = line / split.inner;
      const int64_t i = line % split.inner;
      const T* from = x + split.start(o, i);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const T left = from[a * split.inner];
        const T right = from[b * split.inner];
        return largest ? above(left, right) : above(right, left);
      });
      for (int64_t n = 0; n < k; ++n) {
        const int64_t to = (o * k + n) * split.inner + i;
        places[to] = order[static_cast<size_t>(n)];
        values[to] = from[places[to] * split.inner];
      }
    }
  });
}

Status arg_from_onnx(OnnxForm& form) { return normalize_axis(form, "axis", 0); }
Status top_k_from_onnx(OnnxForm& form) { return normalize_axis(form, "axis", -1); }

/// ONNX requires K to be a vector with one element.
Status top_k_to_onnx(OnnxForm& form) {
  if (form.operands.size() > 1 && !form.operands[1].constant.empty())
    form.operands[1].constant = form.operands[1].constant.reshaped({1});
  return {};
}

OpDef arg_op(std::string name, KernelFn kernel) {
  return {.name = std::move(name),
          .attrs = {{.name = "axis", .kind = AttrKind::Int, .preset = int64_t{0}, .domain = AttrDomain::Axis},
                    {.name = "keepdims", .kind = AttrKind::Int, .preset = int64_t{1}},
                    {.name = "select_last_index", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 12}},
          .infer = infer_arg,
          .flops = flops_operand,
          .kernel = kernel,
          .from_onnx = arg_from_onnx};
}

void top_k_gradient(Backward& node) {
  if (!node.has_gradient(0)) return;
  node.give(0, node.call("ScatterElements", {{"axis", node.attrs().integer("axis")}, {"reduction", std::string("add")}},
                         {zeros(node, node.operand(0).type()), node.result(1), node.gradient()}));
}

}  // namespace

std::vector<OpDef> order_ops() {
  return {
      arg_op("ArgMax", arg_max_kernel),
      arg_op("ArgMin", arg_min_kernel),
      {.name = "TopK",
       .attrs = {{.name = "k", .kind = AttrKind::Int, .domain = AttrDomain::Values, .values = numbers({1, 2, 3})},
                 {.name = "axis", .kind = AttrKind::Int, .preset = int64_t{-1}, .domain = AttrDomain::Axis},
                 {.name = "largest", .kind = AttrKind::Int, .preset = int64_t{1}, .since = 11},
                 {.name = "sorted", .kind = AttrKind::Int, .preset = int64_t{1}, .since = 11}},
       .min_results = 2,
       .infer = infer_top_k,
       .flops = flops_operand,
       .kernel = top_k_kernel,
       .gradient = top_k_gradient,
       .params = {{.index = 1, .attr = "k", .since = 10}},
       .from_onnx = top_k_from_onnx,
       .to_onnx = top_k_to_onnx},
  };
}

}  // namespace isomer
