#pragma once
// Building blocks of reference kernels: typed access, dispatch over element types, index arithmetic. Clarity comes
// before speed.

#include <cmath>
#include <type_traits>

#include "isomer/ir/field.h"
#include "isomer/ir/op.h"
#include "isomer/ops/positions.h"

namespace isomer {

/// A new result of type `types[results.size()]`, appended to the context; written through mutable_data.
Tensor& new_result(KernelContext& context);

/// Calls f.template operator()<T>(), which returns a Status, or nothing if it cannot fail.
template <class T, class F>
Status call_as(F&& f) {
  if constexpr (std::is_void_v<decltype(f.template operator()<T>())>) {
    f.template operator()<T>();
    return {};
  } else {
    return f.template operator()<T>();
  }
}

/// Calls f as call_as does, with the C++ type of a Numeric dtype (float, double, int64_t, uint64_t, Fp; bool is
/// uint8_t). Fails on any other.
template <class F>
Status for_numeric(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float:
      return call_as<float>(f);
    case DType::Double:
      return call_as<double>(f);
    case DType::Int64:
      return call_as<int64_t>(f);
    case DType::Uint64:
      return call_as<uint64_t>(f);
    case DType::Bool:
      return call_as<uint8_t>(f);
    case DType::Field:
      return call_as<Fp>(f);
    default:
      return fail("the reference kernel does not compute on {}", dtype_name(dtype));
  }
}
/// As for_numeric, but only for float, double and Fp: real arithmetic.
template <class F>
Status for_real(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float:
      return call_as<float>(f);
    case DType::Double:
      return call_as<double>(f);
    case DType::Field:
      return call_as<Fp>(f);
    default:
      return fail("the reference kernel needs real numbers, not {}", dtype_name(dtype));
  }
}
/// As for_numeric, by element width, for kernels that move data: T is uint8_t ... uint64_t or std::string.
template <class F>
Status for_width(DType dtype, F&& f) {
  if (dtype == DType::String) return call_as<std::string>(f);
  switch (dtype_bits(dtype)) {
    case 8:
      return call_as<uint8_t>(f);
    case 16:
      return call_as<uint16_t>(f);
    case 32:
      return call_as<uint32_t>(f);
    case 64:
      return call_as<uint64_t>(f);
    case 128:
      return call_as<unsigned __int128>(f);
    default:
      return fail("the reference kernel does not move {}", dtype_name(dtype));
  }
}
/// The elements as T, which may be std::string.
template <class T>
std::span<const T> elements(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    return tensor.string_elements();
  } else {
    return tensor.data<T>();
  }
}
template <class T>
std::span<T> mutable_elements(Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    return tensor.mutable_strings();
  } else {
    return tensor.mutable_data<T>();
  }
}

// Scalar functions over every domain. In the field, functions that are not polynomials are uninterpreted functions of
// the same name, except relu, abs, sign, min and max, which follow Fp::sign (see ir/field.h).
template <class T>
T scalar_max(T a, T b) {
  if constexpr (std::is_same_v<T, Fp>)
    return (a - b).sign() > 0 ? a : b;
  else if constexpr (std::is_floating_point_v<T>)
    return (std::isnan(a) || a > b) ? a : b;
  else
    return a > b ? a : b;
}
template <class T>
T scalar_min(T a, T b) {
  if constexpr (std::is_same_v<T, Fp>)
    return (a - b).sign() > 0 ? b : a;
  else if constexpr (std::is_floating_point_v<T>)
    return (std::isnan(a) || a < b) ? a : b;
  else
    return a < b ? a : b;
}
/// f for floating-point numbers; the uninterpreted function `name` in the field. Pass a generic lambda, so that it is
/// not instantiated for Fp.
template <class T, class F>
T scalar_function(std::string_view name, T x, F f) {
  if constexpr (std::is_same_v<T, Fp>)
    return uninterpreted(name, x);
  else
    return static_cast<T>(f(x));
}
/// A real literal in domain T (exact in the field).
template <class T>
T scalar(double value) {
  if constexpr (std::is_same_v<T, Fp>)
    return field_from_real(value).value_or(Fp());
  else
    return static_cast<T>(value);
}
/// A float attribute as a literal: the decimal 0.1f is used exactly as it is stored.
template <class T>
T scalar(float value) {
  return scalar<T>(static_cast<double>(value));
}

}  // namespace isomer
