// Running sums and products along an axis.

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_cumulative(const OpView& view) {
  ISOMER_TRY([[maybe_unused]] const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  return std::vector<TensorType>{view.type(0)};
}

/// y[i] = fold of step over the elements before i (`exclusive`) or up to i; from the end with `reverse`.
template <class T, class Step>
void run_along(KernelContext& context, Accumulator<T> start, Step step) {
  const AxisSplit split = axis_split(context.operands[0].dims(), context.attrs.integer("axis"));
  const bool exclusive = context.attrs.integer("exclusive") != 0;
  const bool reverse = context.attrs.integer("reverse") != 0;
  const T* x = context.operands[0].data<T>().data();
  T* y = new_result(context).mutable_data<T>().data();
  for (int64_t line = 0; line < split.outer * split.inner; ++line) {
    const int64_t first = split.start(line / split.inner, line % split.inner);
    Accumulator<T> sum = start;
    for (int64_t i = 0; i < split.extent; ++i) {
      const int64_t at = first + (reverse ? split.extent - 1 - i : i) * split.inner;
      const auto next = step(sum, static_cast<Accumulator<T>>(x[at]));
      y[at] = static_cast<T>(exclusive ? sum : next);
      sum = next;
    }
  }
}

Status cum_sum_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    run_along<T>(context, Sum(0), [](Sum a, Sum b) { return sum_of(a, b); });
  });
}

Status cum_prod_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    using Sum = Accumulator<T>;
    run_along<T>(context, Sum(1), [](Sum a, Sum b) { return static_cast<Sum>(a * b); });
  });
}

/// The axis is an operand. It counts from the front if it is known.
Status cumulative_from_onnx(OnnxForm& form) {
  if (!form.has(1)) return fail("{} needs an axis", form.op_type);
  if (form.operands[1].constant.empty()) return form.leave_opaque("its parameter 'axis' is computed at run time");
  ISOMER_TRY(const Ints axis, int_elements(form.operands[1].constant));
  if (axis.size() != 1) return fail("{} needs one axis, got {}", form.op_type, axis.size());
  form.operands[1] = FormOperand();
  form.attrs["axis"] = axis[0];
  return normalize_axis(form, "axis", 0);
}

/// The sums in the other direction.
void cum_sum_gradient(Backward& node) {
  const int64_t reverse = node.attrs().integer("reverse") != 0 ? 0 : 1;
  node.give(0, node.call("CumSum", node.attrs().with("reverse", reverse), {node.gradient()}));
}

OpDef cumulative(std::string name, KernelFn kernel, GradientFn gradient, int since) {
  return {.name = std::move(name),
          .attrs = {{.name = "axis", .kind = AttrKind::Int, .domain = AttrDomain::Axis},
                    {.name = "exclusive", .kind = AttrKind::Int, .preset = int64_t{0}},
                    {.name = "reverse", .kind = AttrKind::Int, .preset = int64_t{0}}},
          .infer = infer_cumulative,
          .flops = flops_per_element,
          .kernel = kernel,
          .gradient = gradient,
          .since = since,
          .params = {{.index = 1, .attr = "axis", .since = since}},
          .from_onnx = cumulative_from_onnx};
}

}  // namespace

std::vector<OpDef> cumulative_ops() {
  return {cumulative("CumSum", cum_sum_kernel, cum_sum_gradient, 11),
          cumulative("CumProd", cum_prod_kernel, nullptr, 26)};
}

}  // namespace isomer
