// Comparisons, logic, and operators on bits.

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/scalars.h"

namespace isomer {
namespace {

/// z = f.operator()<T>(a, b), a bool, over numeric operands of one dtype.
template <class F>
Status compare_numeric(KernelContext& context, F f) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    zip_elements<T, T, uint8_t>(context, [&](T a, T b) { return f.template operator()<T>(a, b) ? 1 : 0; });
  });
}

/// The kernel of compare_numeric for a function that captures nothing.
template <class F>
KernelFn comparison(F /*f*/) {
  return [](KernelContext& context) { return compare_numeric(context, F()); };
}

Status equal_kernel(KernelContext& context) {
  if (context.operands[0].dtype() == DType::String) {
    zip_elements<std::string, std::string, uint8_t>(
        context, [](const std::string& a, const std::string& b) { return a == b ? 1 : 0; });
    return {};
  }
  return compare_numeric(context, []<class T>(T a, T b) { return a == b; });
}

Result<std::vector<TensorType>> infer_order(const OpView& view) {
  ISOMER_TRY(auto types, infer_broadcast_number(view));
  types[0].dtype = DType::Bool;
  return types;
}

Result<std::vector<TensorType>> infer_logic(const OpView& view) {
  for (size_t i = 0; i < view.operands.size(); ++i)
    if (view.dtype(i) != DType::Bool)
      return fail("operand {} of {} must hold booleans, it is {}", i, view.op.name, view.type(i).str());
  return infer_broadcast(view);
}

template <class F>
KernelFn logic(F /*f*/) {
  return [](KernelContext& context) -> Status {
    zip_elements<uint8_t, uint8_t, uint8_t>(context, [](uint8_t a, uint8_t b) { return F()(a != 0, b != 0) ? 1 : 0; });
    return {};
  };
}

Status not_kernel(KernelContext& context) {
  map_elements<uint8_t, uint8_t>(context, [](uint8_t x) { return x == 0 ? 1 : 0; });
  return {};
}

Status want_integer(const OpView& view, size_t i) {
  if (!is_integer(view.dtype(i)))
    return fail("operand {} of {} must hold integers, it is {}", i, view.op.name, view.type(i).str());
  return {};
}

Result<std::vector<TensorType>> infer_bits(const OpView& view) {
  for (size_t i = 0; i < view.operands.size(); ++i) ISOMER_CHECK(want_integer(view, i));
  return infer_broadcast(view);
}

/// z = f(a, b) on the bits of integers, which the executor widens to 64 bits.
template <class F>
KernelFn bits(F /*f*/) {
  return [](KernelContext& context) -> Status {
    zip_elements<uint64_t, uint64_t, uint64_t>(context, F());
    return {};
  };
}

Status bit_not_kernel(KernelContext& context) {
  map_elements<uint64_t, uint64_t>(context, [](uint64_t x) { return ~x; });
  return {};
}

Result<std::vector<TensorType>> infer_shift(const OpView& view) {
  const std::string& direction = view.attrs.text("direction");
  if (direction != "LEFT" && direction != "RIGHT") return fail("BitShift towards '{}'", direction);
  return infer_bits(view);
}

/// x shifted by n bits. Right shifts keep the sign; shifts by all bits or by a negative number leave only the sign.
template <class T>
T shifted(T x, T n, bool left) {
  const bool all = n < T(0) || n >= T(64);
  if (left) return all ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << n);
  if (all) return x < T(0) ? static_cast<T>(-1) : T(0);
  return static_cast<T>(x >> n);
}

Status shift_kernel(KernelContext& context) {
  const bool left = context.attrs.text("direction") == "LEFT";
  if (context.operands[0].dtype() == DType::Uint64)
    zip_elements<uint64_t, uint64_t, uint64_t>(context, [=](uint64_t x, uint64_t n) { return shifted(x, n, left); });
  else
    zip_elements<int64_t, int64_t, int64_t>(context, [=](int64_t x, int64_t n) { return shifted(x, n, left); });
  return {};
}

Result<std::vector<TensorType>> infer_where(const OpView& view) {
  if (view.dtype(0) != DType::Bool)
    return fail("the condition of Where must hold booleans, it is {}", view.type(0).str());
  ISOMER_CHECK(same_dtype(view, 1, 2));
  ISOMER_TRY(Shape shape, broadcast(view.shape(0), view.shape(1)));
  ISOMER_TRY(shape, broadcast(shape, view.shape(2)));
  return std::vector<TensorType>{{view.dtype(1), std::move(shape)}};
}

/// y + c (x - y), which is x if c is 1, and y if c is 0.
void where_axiom(Axiom& axiom) {
  const bool real = axiom.operand(1).real && axiom.operand(2).real;
  elementwise(axiom, [scope = &axiom.scope](const Elements& x) { return x[2] + scope->times(x[0], x[1] - x[2]); });
  axiom.results.back().real = real;
}

Status where_kernel(KernelContext& context) {
  return for_width(context.operands[1].dtype(), [&]<class T>() {
    const auto& in = context.operands;
    const auto choose = in[0].data<uint8_t>();
    const auto x = elements<T>(in[1]);
    const auto y = elements<T>(in[2]);
    Tensor& z = new_result(context);
    const auto out = mutable_elements<T>(z);
    size_t n = 0;
    for_each_position(z.dims(),
                      {broadcast_strides(in[0].dims(), z.dims()), broadcast_strides(in[1].dims(), z.dims()),
                       broadcast_strides(in[2].dims(), z.dims())},
                      [&](const int64_t* at) {
                        out[n++] = choose[static_cast<size_t>(at[0])] != 0 ? x[static_cast<size_t>(at[1])]
                                                                           : y[static_cast<size_t>(at[2])];
                      });
  });
}

Result<std::vector<TensorType>> infer_test(const OpView& view) {
  ISOMER_TRY(auto types, infer_same_real(view));
  types[0].dtype = DType::Bool;
  return types;
}

/// f(x) of a floating-point number; elements of the field are neither infinite nor NaN.
template <class T, class F>
uint8_t test_element(T x, F f) {
  if constexpr (std::is_same_v<T, Fp>)
    return 0;
  else
    return f(static_cast<double>(x)) ? 1 : 0;
}

template <class F>
Status test_real(KernelContext& context, F f) {
  return for_real(context.operands[0].dtype(),
                  [&]<class T>() { map_elements<T, uint8_t>(context, [&](T x) { return test_element(x, f); }); });
}

Status is_nan_kernel(KernelContext& context) {
  return test_real(context, [](double x) { return std::isnan(x); });
}

Status is_inf_kernel(KernelContext& context) {
  const bool negative = context.attrs.integer("detect_negative") != 0;
  const bool positive = context.attrs.integer("detect_positive") != 0;
  return test_real(context, [=](double x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

OpDef pairwise(std::string name, InferFn infer, KernelFn kernel, int since, bool commutative, TraitSet traits = {},
               std::vector<OperandRole> roles = {}) {
  return {.name = std::move(name),
          .min_operands = 2,
          .infer = infer,
          .flops = flops_per_element,
          .kernel = kernel,
          .axiom = condition_axiom,
          .gradient = zero_gradient,
          .commutative = commutative,
          .traits = traits.with(Trait::Elementwise),
          .roles = std::move(roles),
          .since = since};
}

void where_gradient(Backward& node) {
  const GraphValue zero = number(node.gradient(), 0);
  if (node.needs(1)) node.give(1, where(node.operand(0), node.gradient(), zero));
  if (node.needs(2)) node.give(2, where(node.operand(0), zero, node.gradient()));
}

}  // namespace

std::vector<OpDef> compare_ops() {
  const std::vector<OperandRole> kConditions(2, OperandRole::Condition);
  return {
      pairwise("Equal", infer_compare, equal_kernel, 7, true, {Trait::Broadcast}),
      pairwise("Greater", infer_order, comparison([]<class T>(T a, T b) { return scalar_greater(a, b); }), 7, false),
      pairwise("Less", infer_order, comparison([]<class T>(T a, T b) { return scalar_greater(b, a); }), 7, false,
               {Trait::Broadcast}),
      pairwise("GreaterOrEqual", infer_order,
               comparison([]<class T>(T a, T b) { return a == b || scalar_greater(a, b); }), 12, false),
      pairwise("LessOrEqual", infer_order, comparison([]<class T>(T a, T b) { return a == b || scalar_greater(b, a); }),
               12, false),
      pairwise("And", infer_logic, logic([](bool a, bool b) { return a && b; }), 7, true, {}, kConditions),
      pairwise("Or", infer_logic, logic([](bool a, bool b) { return a || b; }), 7, true, {}, kConditions),
      pairwise("Xor", infer_logic, logic([](bool a, bool b) { return a != b; }), 7, true, {}, kConditions),
      {.name = "Not",
       .infer = infer_logic,
       .flops = flops_per_element,
       .kernel = not_kernel,
       .axiom = condition_axiom,
       .gradient = zero_gradient,
       .traits = {Trait::Elementwise},
       .roles = {OperandRole::Condition}},
      pairwise("BitwiseAnd", infer_bits, bits([](uint64_t a, uint64_t b) { return a & b; }), 18, true),
      pairwise("BitwiseOr", infer_bits, bits([](uint64_t a, uint64_t b) { return a | b; }), 18, true),
      pairwise("BitwiseXor", infer_bits, bits([](uint64_t a, uint64_t b) { return a ^ b; }), 18, true),
      {.name = "BitwiseNot",
       .infer = infer_bits,
       .flops = flops_per_element,
       .kernel = bit_not_kernel,
       .traits = {Trait::Elementwise},
       .since = 18},
      {.name = "BitShift",
       .attrs = {{.name = "direction",
                  .kind = AttrKind::String,
                  .domain = AttrDomain::Values,
                  .values = texts({"LEFT", "RIGHT"})}},
       .min_operands = 2,
       .infer = infer_shift,
       .flops = flops_per_element,
       .kernel = shift_kernel,
       .traits = {Trait::Elementwise},
       .since = 11},
      {.name = "Where",
       .min_operands = 3,
       .infer = infer_where,
       .flops = flops_per_element,
       .kernel = where_kernel,
       .compute = Compute::Movement,
       .axiom = where_axiom,
       .gradient = where_gradient,
       .traits = {Trait::Broadcast, Trait::Elementwise},
       .roles = {OperandRole::Condition},
       .since = 9},
      {.name = "IsNaN",
       .infer = infer_test,
       .flops = flops_per_element,
       .kernel = is_nan_kernel,
       .gradient = zero_gradient,
       .traits = {Trait::Elementwise},
       .since = 9},
      {.name = "IsInf",
       .attrs = {{.name = "detect_negative", .kind = AttrKind::Int, .preset = int64_t{1}},
                 {.name = "detect_positive", .kind = AttrKind::Int, .preset = int64_t{1}}},
       .infer = infer_test,
       .flops = flops_per_element,
       .kernel = is_inf_kernel,
       .gradient = zero_gradient,
       .traits = {Trait::Elementwise},
       .since = 10},
  };
}

}  // namespace isomer
