// Arithmetic of two or more operands that broadcast.

#include <numeric>

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// a / b; integers truncate towards 0. Division by 0, which ONNX leaves undefined for integers, gives 0.
template <class T>
T quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
  }
  return a / b;
}

/// The remainder of integers, with the sign of a (fmod) or of b; 0 for b = 0.
template <class T>
T integer_mod(T a, T b, bool fmod) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    const T rest = a % b;
    return !fmod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return a % b;
}

/// The remainder of reals, with the sign of a (fmod) or of b.
template <class T>
T real_mod(T a, T b, bool fmod) {
  const T rest = std::fmod(a, b);
  if (fmod || std::isnan(rest)) return rest;
  if (rest == 0) return std::copysign(T(0), b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

Status mod_kernel(KernelContext& context) {
  const bool fmod = context.attrs.integer("fmod") != 0;
  return zip_numeric(context, [fmod]<class T>(T a, T b) -> T {
    if constexpr (std::is_same_v<T, Fp>)
      return uninterpreted(fmod ? "Fmod" : "Mod", a, b);
    else if constexpr (std::is_integral_v<T>)
      return integer_mod(a, b, fmod);
    else
      return real_mod(a, b, fmod);
  });
}

Result<std::vector<TensorType>> infer_mod(const OpView& view) {
  const int64_t fmod = view.attrs.integer("fmod");
  if (fmod != 0 && fmod != 1) return fail("Mod with fmod={}", fmod);
  return infer_broadcast_number(view);
}

Result<std::vector<TensorType>> infer_pow(const OpView& view) {
  ISOMER_CHECK(want_number(view, 0));
  ISOMER_CHECK(want_number(view, 1));
  ISOMER_TRY(Shape shape, broadcast(view.shape(0), view.shape(1)));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// x^n for n >= 0, integers modulo 2^64.
template <class T, class N>
T integer_power(T x, N n) {
  uint64_t base = static_cast<uint64_t>(x);
  uint64_t result = 1;
  for (auto left = static_cast<uint64_t>(n); left != 0; left >>= 1, base *= base)
    if ((left & 1) != 0) result *= base;
  return static_cast<T>(result);
}

/// x^y in the field: products for small integers y, roots for y = 1/2, otherwise an uninterpreted function.
Fp field_power(Fp x, Fp y) {
  constexpr uint64_t kSmall = 16;
  if (y.residue() <= kSmall) return x.power(y.residue());
  if ((-y).residue() <= kSmall) return Fp(1) / x.power((-y).residue());
  const Fp half = Fp(1) / Fp(2);
  if (y == half) return scalar_sqrt(x);
  if (y == -half) return Fp(1) / scalar_sqrt(x);
  return uninterpreted("Pow", x, y);
}

template <class T, class E>
T power(T x, E y) {
  if constexpr (std::is_same_v<T, Fp> && std::is_same_v<E, Fp>) {
    return field_power(x, y);
  } else if constexpr (std::is_same_v<T, Fp> && std::is_integral_v<E>) {
    return field_power(x, Fp(static_cast<int64_t>(y)));
  } else if constexpr (std::is_same_v<T, Fp> || std::is_same_v<E, Fp>) {
    return T(0);  // the executor takes all reals into the field; refused by pow_kernel
  } else {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<E>)
      if (y >= 0) return integer_power(x, y);
    return saturated<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  }
}

Status pow_kernel(KernelContext& context) {
  const DType base = context.operands[0].dtype();
  const DType exponent = context.operands[1].dtype();
  if ((base == DType::Field && is_real(exponent)) || (exponent == DType::Field && base != DType::Field))
    return fail("a power of {} and {} is not in the prime field", dtype_name(base), dtype_name(exponent));
  return for_numeric(base, [&]<class T>() -> Status {
    return for_numeric(exponent,
                       [&]<class E>() { zip_elements<T, E, T>(context, [](T x, E y) { return power(x, y); }); });
  });
}

/// Folds all operands from the left in type A, and finishes with f(total).
template <class T, class A, class Step, class End>
void fold_operands(KernelContext& context, Step step, End end) {
  Tensor& z = new_result(context);
  const auto out = z.mutable_data<T>();
  std::vector<A> totals(out.size());
  for (size_t i = 0; i < context.operands.size(); ++i) {
    const auto x = context.operands[i].data<T>();
    size_t n = 0;
    for_each_position(z.dims(), {broadcast_strides(context.operands[i].dims(), z.dims())}, [&](const int64_t* at) {
      const A v = static_cast<A>(x[static_cast<size_t>(at[0])]);
      totals[n] = i == 0 ? v : step(totals[n], v);
      ++n;
    });
  }
  for (size_t n = 0; n < out.size(); ++n) out[n] = static_cast<T>(end(totals[n]));
}

Status max_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    fold_operands<T, T>(
        context, [](T a, T b) { return scalar_max<T>(a, b); }, [](T v) { return v; });
  });
}

Status min_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    fold_operands<T, T>(
        context, [](T a, T b) { return scalar_min<T>(a, b); }, [](T v) { return v; });
  });
}

Status sum_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    fold_operands<T, A>(context, sum_of<A>, [](A v) { return v; });
  });
}

Status mean_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    const A n = from_count<A>(static_cast<int64_t>(context.operands.size()));
    fold_operands<T, A>(context, sum_of<A>, [n](A v) { return quotient(v, n); });
  });
}

void div_axiom(Axiom& axiom) {
  // Of integers, too.
  const bool real = std::ranges::all_of(axiom.operands, [](const auto& x) { return x->real; });
  elementwise(axiom, [scope = &axiom.scope, real, name = axiom.name()](const Elements& x) {
    if (x[1].number() == 1) return x[0];
    return real ? scope->times(x[0], inverse(x[1])) : function(name, x);
  });
}

double flops_variadic(const WorkView& view) {
  return static_cast<double>(view.operands.size()) * count(view.results[0]);
}

void add_gradient(Backward& node) {
  for (size_t i = 0; i < node.num_operands(); ++i) node.give(i, node.gradient());
}
void sub_gradient(Backward& node) {
  node.give(0, node.gradient());
  if (node.needs(1)) node.give(1, -node.gradient());
}
void mul_gradient(Backward& node) {
  if (node.needs(0)) node.give(0, node.gradient() * node.operand(1));
  if (node.needs(1)) node.give(1, node.gradient() * node.operand(0));
}
void div_gradient(Backward& node) {
  const GraphValue share = node.gradient() / node.operand(1);
  node.give(0, share);
  if (node.needs(1)) node.give(1, -(share * node.result()));
}

/// y x^(y - 1) and x^y log(x).
void pow_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  const GraphValue y = converted(node.operand(1), x.dtype());  // exponents may be integers
  if (node.needs(0)) node.give(0, node.gradient() * y * apply("Pow", {x, y - 1}));
  if (node.needs(1))
    node.give(1, converted(node.gradient() * node.result() * apply("Log", {x}), node.operand(1).dtype()));
}

void mean_gradient(Backward& node) {
  const GraphValue share = node.gradient() / static_cast<double>(node.num_operands());
  for (size_t i = 0; i < node.num_operands(); ++i) node.give(i, share);
}

/// Max and Min: operands that are equal to the result share its gradient.
void extreme_gradient(Backward& node) {
  std::vector<GraphValue> chosen;
  for (size_t i = 0; i < node.num_operands(); ++i) chosen.push_back(equal(node.operand(i), node.result()));
  const DType dtype = node.gradient().dtype();
  GraphValue count = converted(chosen[0], dtype);
  for (size_t i = 1; i < chosen.size(); ++i) count = count + converted(chosen[i], dtype);
  const GraphValue share = node.gradient() / count;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (node.needs(i)) node.give(i, masked(chosen[i], share));
}

OpDef binary(std::string name, KernelFn kernel, AxiomFn axiom, GradientFn gradient, bool commutative, Infix infix,
             TraitSet traits = {Trait::Broadcast, Trait::InPlace}) {
  return {.name = std::move(name),
          .min_operands = 2,
          .infer = infer_broadcast_number,
          .flops = flops_per_element,
          .kernel = kernel,
          .axiom = axiom,
          .gradient = gradient,
          .commutative = commutative,
          .traits = traits.with(Trait::Elementwise),
          .infix = infix,
          .since = 7};
}

OpDef variadic(std::string name, KernelFn kernel, AxiomFn axiom, GradientFn gradient, TraitSet traits = {}) {
  return {.name = std::move(name),
          .max_operands = OpDef::kVariadic,
          .infer = infer_broadcast_number,
          .flops = flops_variadic,
          .kernel = kernel,
          .axiom = axiom,
          .gradient = gradient,
          .commutative = true,
          .traits = traits.with(Trait::Elementwise),
          .since = 8};
}

}  // namespace

std::vector<OpDef> arithmetic_ops() {
  return {
      binary("Add", zip_kernel([]<class T>(T a, T b) { return sum_of(a, b); }),
             elementwise_axiom([](Scope&, const Elements& x) { return x[0] + x[1]; }), add_gradient, true,
             {" + ", Infix::Precedence::Sum, true}),
      binary("Sub", zip_kernel([]<class T>(T a, T b) { return difference_of(a, b); }),
             elementwise_axiom([](Scope&, const Elements& x) { return x[0] - x[1]; }), sub_gradient, false,
             {" − ", Infix::Precedence::Sum}),
      binary("Mul", zip_kernel([]<class T>(T a, T b) { return product_of(a, b); }),
             elementwise_axiom([](Scope& scope, const Elements& x) { return scope.times(x[0], x[1]); }), mul_gradient,
             true, {" ∘ ", Infix::Precedence::Product}),
      binary("Div", zip_kernel([]<class T>(T a, T b) { return quotient(a, b); }), div_axiom, div_gradient, false,
             {" / ", Infix::Precedence::Product}, {Trait::Broadcast, Trait::InPlace, Trait::Partial}),
      {.name = "Mod",
       .attrs = {{.name = "fmod", .kind = AttrKind::Int, .preset = int64_t{0}}},
       .min_operands = 2,
       .infer = infer_mod,
       .flops = flops_per_element,
       .kernel = mod_kernel,
       .axiom = function_axiom,
       .traits = {Trait::Partial, Trait::Elementwise},
       .since = 10},
      {.name = "Pow",
       .min_operands = 2,
       .infer = infer_pow,
       .flops = flops_each<static_cast<int>(kFunctionFlops)>,
       .kernel = pow_kernel,
       .axiom = real_axiom([](Scope& scope, const Elements& x) {
         return x[1].number() == 2 ? scope.times(x[0], x[0]) : function("Pow", x);
       }),
       .gradient = pow_gradient,
       .traits = {Trait::Broadcast, Trait::Partial, Trait::Exponential, Trait::Elementwise},
       .since = 7},
      variadic("Max", max_kernel, real_axiom([](Scope&, const Elements& x) {
                 return std::accumulate(x.begin() + 1, x.end(), x[0], larger);
               }),
               extreme_gradient, {Trait::Broadcast}),
      variadic("Min", min_kernel, real_axiom([](Scope&, const Elements& x) {
                 return std::accumulate(x.begin() + 1, x.end(), x[0], smaller);
               }),
               extreme_gradient, {Trait::Broadcast}),
      variadic("Sum", sum_kernel, elementwise_axiom([](Scope&, const Elements& x) {
                 return std::accumulate(x.begin(), x.end(), Element(0));
               }),
               add_gradient, {Trait::InPlace}),
      variadic("Mean", mean_kernel, real_axiom([](Scope&, const Elements& x) {
                 return Rational(1, x.size()) * std::accumulate(x.begin(), x.end(), Element(0));
               }),
               mean_gradient),
  };
}

}  // namespace isomer
