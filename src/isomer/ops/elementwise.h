#pragma once
// Element-wise operators: inference, kernels over one or two operands, cost.

#include <limits>

#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"

namespace isomer {

/// Whether elements of this type can be added and multiplied: reals, integers and the field.
inline bool is_number(DType dtype) { return is_real(dtype) || is_integer(dtype) || dtype == DType::Field; }
/// Whether this is a real type or the field.
inline bool is_real_like(DType dtype) { return is_real(dtype) || dtype == DType::Field; }

/// Fails unless operand i holds numbers (reals).
Status want_number(const OpView& view, size_t i);
Status want_real(const OpView& view, size_t i);

/// Inference: one operand of numbers (reals), same type.
Result<std::vector<TensorType>> infer_same_number(const OpView& view);
Result<std::vector<TensorType>> infer_same_real(const OpView& view);
/// Inference: numbers of one dtype that broadcast.
Result<std::vector<TensorType>> infer_broadcast_number(const OpView& view);

/// FLOPs: the assumed cost of a function like exp or tanh per element.
constexpr double kFunctionFlops = 10;
/// FLOPs of `n` operations per result element.
template <int n>
double flops_each(const WorkView& view) {
  return n * count(view.results[0]);
}

/// A double as T; numbers out of range become the nearest T.
template <class T>
T saturated(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

/// y = f(x), of type R, for every element of type T.
template <class T, class R, class F>
void map_elements(KernelContext& context, F f) {
  const auto x = context.operands[0].data<T>();
  const auto y = new_result(context).mutable_data<R>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
}

/// y = f.operator()<T>(x) for reals and the field.
template <class F>
Status map_real(KernelContext& context, F f) {
  return for_real(context.operands[0].dtype(),
                  [&]<class T>() { map_elements<T, T>(context, [&](T x) { return f.template operator()<T>(x); }); });
}

/// As map_real, for every numeric dtype.
template <class F>
Status map_numeric(KernelContext& context, F f) {
  return for_numeric(context.operands[0].dtype(),
                     [&]<class T>() { map_elements<T, T>(context, [&](T x) { return f.template operator()<T>(x); }); });
}

/// The kernels of map_real and map_numeric for a function that captures nothing.
template <class F>
KernelFn real_kernel(F /*f*/) {
  return [](KernelContext& context) { return map_real(context, F()); };
}
template <class F>
KernelFn numeric_kernel(F /*f*/) {
  return [](KernelContext& context) { return map_numeric(context, F()); };
}

/// z = f(a, b), of type R, for operands of types A and B with broadcasting.
template <class A, class B, class R, class F>
void zip_elements(KernelContext& context, F f) {
  const Tensor& a = context.operands[0];
  const Tensor& b = context.operands[1];
  Tensor& z = new_result(context);
  const auto x = elements<A>(a);
  const auto y = elements<B>(b);
  const auto out = z.mutable_data<R>();
  R* next = out.data();
  for_each_row({z.dims(), {broadcast_strides(a.dims(), z.dims()), broadcast_strides(b.dims(), z.dims())}},
               [&](const int64_t* offsets, int64_t count, const int64_t* steps) {
                 const A* const left = x.data() + offsets[0];
                 const B* const right = y.data() + offsets[1];
                 const auto row = [&](auto step_left, auto step_right) {
                   for (int64_t i = 0; i < count; ++i) next[i] = f(left[i * step_left], right[i * step_right]);
                 };
                 using One = std::integral_constant<int64_t, 1>;
                 using Zero = std::integral_constant<int64_t, 0>;
                 if (steps[0] == 1 && steps[1] == 1)
                   row(One(), One());
                 else if (steps[0] == 1 && steps[1] == 0)
                   row(One(), Zero());
                 else
                   row(steps[0], steps[1]);
                 next += count;
               });
}

/// z = f.operator()<T>(a, b) for numeric operands of the same dtype.
template <class F>
Status zip_numeric(KernelContext& context, F f) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() {
    zip_elements<T, T, T>(context, [&](T a, T b) { return f.template operator()<T>(a, b); });
  });
}
/// The kernel of zip_numeric for a function that captures nothing.
template <class F>
KernelFn zip_kernel(F /*f*/) {
  return [](KernelContext& context) { return zip_numeric(context, F()); };
}

}  // namespace isomer
