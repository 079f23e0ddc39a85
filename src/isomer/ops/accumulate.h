#pragma once
// Sums in the reference kernels. Float kernels accumulate in double, so that other results can be compared with theirs.
// The other domains accumulate in their own type.

#include <limits>
#include <type_traits>

#include "isomer/ops/kernel.h"

namespace isomer {

/// The type in which sums of products of T are accumulated.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// f(a, b). Integers are computed modulo 2^64, because ONNX's types wrap around.
template <class T, class F>
T wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return static_cast<T>(f(a, b));
}

/// a + b, a - b, a b and a + x y; integers wrap around.
template <class T>
T sum_of(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x + y; });
}
template <class T>
T difference_of(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x - y; });
}
template <class T>
T product_of(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x * y; });
}
template <class T>
T multiply_add(T a, T x, T y) {
  return sum_of(a, product_of(x, y));
}

/// As for_numeric, but only for float and double, for kernels that use the magnitude of numbers.
template <class F>
Status for_float(DType dtype, F&& f) {
  if (dtype == DType::Float) return call_as<float>(f);
  if (dtype == DType::Double) return call_as<double>(f);
  return fail("the reference kernel needs floating-point numbers, not {}", dtype_name(dtype));
}

/// The kernel f.operator()<T>(context) over for_float, for a function that captures nothing.
template <class F>
KernelFn float_kernel(F /*f*/) {
  return [](KernelContext& context) {
    return for_float(context.operands[0].dtype(), [&]<class T>() { return F().template operator()<T>(context); });
  };
}

/// An integer as an element of domain T.
template <class T>
T from_count(int64_t n) {
  return static_cast<T>(n);
}

/// sqrt(x). In the field, this is the uninterpreted function of the operator Sqrt.
template <class T>
T scalar_sqrt(T x) {
  return scalar_function("Sqrt", x, [](auto v) { return std::sqrt(v); });
}

/// |x|. In the field, this uses Fp::sign, as the operator Abs does.
template <class T>
T scalar_abs(T x) {
  if constexpr (std::is_same_v<T, Fp>)
    return x.sign() < 0 ? T(0) - x : x;
  else if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < T(0) ? difference_of(T(0), x) : x;
}

/// The maximum over a set. In the field, residues are compared: Fp::sign does not define an order (its maximum is not
/// associative), while any total order satisfies the laws of a lattice, on which rules about maxima depend.
template <class T>
T lattice_max(T a, T b) {
  if constexpr (std::is_same_v<T, Fp>)
    return a.residue() > b.residue() ? a : b;
  else
    return scalar_max(a, b);
}
template <class T>
T lattice_min(T a, T b) {
  if constexpr (std::is_same_v<T, Fp>)
    return a.residue() < b.residue() ? a : b;
  else
    return scalar_min(a, b);
}

/// The neutral elements of lattice_max and lattice_min.
template <class T>
T lattice_bottom() {
  if constexpr (std::is_same_v<T, Fp>)
    return Fp();
  else if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <class T>
T lattice_top() {
  if constexpr (std::is_same_v<T, Fp>)
    return Fp::raw(Fp::kPrime - 1);
  else if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else if constexpr (std::is_same_v<T, uint8_t>)
    return 1;  // bool
  else
    return std::numeric_limits<T>::max();
}

}  // namespace isomer
