// Elementwise functions of one operand.

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/scalars.h"

namespace isomer {
namespace {

/// -x, integers modulo 2^64.
template <class T>
T negated(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0 - static_cast<uint64_t>(x));
  else
    return -x;
}

Status abs_kernel(KernelContext& context) {
  return map_numeric(context, []<class T>(T x) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else if constexpr (std::is_same_v<T, Fp>)
      return scalar_abs(x);
    else
      return x < T(0) ? negated(x) : x;
  });
}

Status sign_kernel(KernelContext& context) {
  return map_numeric(context, []<class T>(T x) -> T {
    if constexpr (std::is_same_v<T, Fp>)
      return T(x.sign());
    else
      return x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : x;  // x: 0 or NaN
  });
}

// One struct per function: its operator's name, and its value for floating-point numbers. std::nearbyint rounds half to
// even.
#define ISOMER_FUNCTION(Name, function)                     \
  struct Name {                                             \
    static constexpr std::string_view kName = #Name;        \
    static double of(double x) { return std::function(x); } \
    static float of(float x) { return std::function(x); }   \
  }
ISOMER_FUNCTION(Ceil, ceil);
ISOMER_FUNCTION(Floor, floor);
ISOMER_FUNCTION(Round, nearbyint);
ISOMER_FUNCTION(Sin, sin);
ISOMER_FUNCTION(Cos, cos);
ISOMER_FUNCTION(Tan, tan);
ISOMER_FUNCTION(Asin, asin);
ISOMER_FUNCTION(Acos, acos);
ISOMER_FUNCTION(Atan, atan);
ISOMER_FUNCTION(Sinh, sinh);
ISOMER_FUNCTION(Cosh, cosh);
ISOMER_FUNCTION(Asinh, asinh);
ISOMER_FUNCTION(Acosh, acosh);
ISOMER_FUNCTION(Atanh, atanh);
#undef ISOMER_FUNCTION

template <class Function>
Status function_kernel(KernelContext& context) {
  return map_real(context, []<class T>(T x) -> T {
    return scalar_function(Function::kName, x, [](auto v) { return Function::of(v); });
  });
}

Status identity_kernel(KernelContext& context) {
  context.results.push_back(context.operands[0]);
  return {};
}

void abs_axiom(Axiom& axiom) {
  if (axiom.operand(0).real)
    return elementwise(axiom, [](const Elements& x) { return relu(x[0]) + relu(Rational(-1) * x[0]); });
  elementwise(axiom, [](const Elements& x) { return is_relu_of_integer(x[0]) ? x[0] : function("Abs", x); });
}
void identity_axiom(Axiom& axiom) { axiom.results.push_back(axiom.operand(0)); }

void abs_gradient(Backward& node) { node.give(0, node.gradient() * apply("Sign", {node.operand(0)})); }
void neg_gradient(Backward& node) { node.give(0, -node.gradient()); }
void identity_gradient(Backward& node) { node.give(0, node.gradient()); }

OpDef unary(std::string name, InferFn infer, FlopsFn flops, KernelFn kernel, GradientFn gradient, int since,
            AxiomFn axiom = function_axiom, TraitSet traits = {}) {
  return {.name = std::move(name),
          .infer = infer,
          .flops = flops,
          .kernel = kernel,
          .axiom = axiom,
          .gradient = gradient,
          .traits = traits.with(Trait::Elementwise),
          .since = since};
}

template <class Function>
OpDef function_op(GradientFn gradient, int since, FlopsFn flops = flops_each<static_cast<int>(kFunctionFlops)>,
                  TraitSet traits = {}) {
  return unary(std::string(Function::kName), infer_same_real, flops, function_kernel<Function>, gradient, since,
               function_axiom, traits);
}

}  // namespace

std::vector<OpDef> unary_ops() {
  constexpr FlopsFn kFunction = flops_each<static_cast<int>(kFunctionFlops)>;
  return {
      unary("Abs", infer_same_number, flops_per_element, abs_kernel, abs_gradient, 6, abs_axiom),
      unary("Neg", infer_same_number, flops_per_element, numeric_kernel([]<class T>(T x) -> T { return negated(x); }),
            neg_gradient, 6, elementwise_axiom([](Scope&, const Elements& x) { return Rational(-1) * x[0]; })),
      unary("Sign", infer_same_number, flops_per_element, sign_kernel, zero_gradient, 9),
      unary("Reciprocal", infer_same_real, flops_per_element, real_kernel([]<class T>(T x) -> T { return T(1) / x; }),
            derivative([](const GraphValue&, const GraphValue& y) { return -square(y); }), 6,
            real_axiom([](Scope&, const Elements& x) { return inverse(x[0]); }), {Trait::Partial}),
      unary("Sqrt", infer_same_real, kFunction, real_kernel([]<class T>(T x) -> T { return scalar_sqrt(x); }),
            derivative([](const GraphValue&, const GraphValue& y) { return 0.5 / y; }), 6, function_axiom,
            {Trait::RealsOnly, Trait::Partial}),
      unary("Exp", infer_same_real, kFunction, real_kernel([]<class T>(T x) -> T { return scalar_exp(x); }),
            derivative([](const GraphValue&, const GraphValue& y) { return y; }), 6, function_axiom,
            {Trait::RealsOnly, Trait::Exponential}),
      unary("Log", infer_same_real, kFunction, real_kernel([]<class T>(T x) -> T { return scalar_log(x); }),
            derivative([](const GraphValue& x, const GraphValue&) { return 1 / x; }), 6, function_axiom,
            {Trait::Partial}),
      unary("Erf", infer_same_number, kFunction, real_kernel([]<class T>(T x) -> T { return scalar_erf(x); }),
            derivative([](const GraphValue& x, const GraphValue&) { return 1.1283791670955126 * exp(-square(x)); }), 9,
            function_axiom, {Trait::RealsOnly, Trait::InPlace}),
      function_op<Ceil>(zero_gradient, 6, flops_per_element),
      function_op<Floor>(zero_gradient, 6, flops_per_element),
      function_op<Round>(zero_gradient, 11, flops_per_element),
      function_op<Sin>(derivative([](const GraphValue& x, const GraphValue&) { return apply("Cos", {x}); }), 7),
      function_op<Cos>(derivative([](const GraphValue& x, const GraphValue&) { return -apply("Sin", {x}); }), 7),
      function_op<Tan>(derivative([](const GraphValue&, const GraphValue& y) { return 1 + square(y); }), 7),
      function_op<Asin>(
          derivative([](const GraphValue& x, const GraphValue&) { return 1 / apply("Sqrt", {1 - square(x)}); }), 7,
          kFunction, {Trait::Partial}),
      function_op<Acos>(
          derivative([](const GraphValue& x, const GraphValue&) { return -(1 / apply("Sqrt", {1 - square(x)})); }), 7,
          kFunction, {Trait::Partial}),
      function_op<Atan>(derivative([](const GraphValue& x, const GraphValue&) { return 1 / (1 + square(x)); }), 7),
      function_op<Sinh>(derivative([](const GraphValue& x, const GraphValue&) { return apply("Cosh", {x}); }), 9,
                        kFunction, {Trait::Exponential}),
      function_op<Cosh>(derivative([](const GraphValue& x, const GraphValue&) { return apply("Sinh", {x}); }), 9,
                        kFunction, {Trait::Exponential}),
      function_op<Asinh>(
          derivative([](const GraphValue& x, const GraphValue&) { return 1 / apply("Sqrt", {1 + square(x)}); }), 9),
      function_op<Acosh>(
          derivative([](const GraphValue& x, const GraphValue&) { return 1 / apply("Sqrt", {square(x) - 1}); }), 9,
          kFunction, {Trait::Partial}),
      function_op<Atanh>(derivative([](const GraphValue& x, const GraphValue&) { return 1 / (1 - square(x)); }), 9,
                         kFunction, {Trait::Partial}),
      {.name = "Identity",
       .infer = infer_same,
       .kernel = identity_kernel,
       .compute = Compute::Movement,
       .axiom = identity_axiom,
       .gradient = identity_gradient,
       .traits = {Trait::Identity, Trait::View}},
  };
}

}  // namespace isomer
