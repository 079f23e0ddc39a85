#pragma once
// The scalar functions from which activations are made, over every domain. In the field, each is either a composition
// of others or the uninterpreted function with its operator's name.

#include <algorithm>

#include "isomer/ops/accumulate.h"

namespace isomer {

template <class T>
T scalar_exp(T x) {
  return scalar_function("Exp", x, [](auto v) { return std::exp(v); });
}
template <class T>
T scalar_log(T x) {
  return scalar_function("Log", x, [](auto v) { return std::log(v); });
}
template <class T>
T scalar_tanh(T x) {
  return scalar_function("Tanh", x, [](auto v) { return std::tanh(v); });
}
template <class T>
T scalar_erf(T x) {
  return scalar_function("Erf", x, [](auto v) { return std::erf(v); });
}
template <class T>
T scalar_sigmoid(T x) {
  return scalar_function("Sigmoid", x, [](auto v) { return 1 / (1 + std::exp(-v)); });
}

/// x > y; in the field, by the sign of the difference.
template <class T>
bool scalar_greater(T x, T y) {
  if constexpr (std::is_same_v<T, Fp>)
    return (x - y).sign() > 0;
  else
    return x > y;
}

/// min(max(x, low), high)
template <class T>
T scalar_clip(T x, T low, T high) {
  return scalar_min<T>(scalar_max<T>(x, low), high);
}

/// log(1 + exp(x)), without overflow for floating-point numbers.
template <class T>
T scalar_softplus(T x) {
  if constexpr (std::is_same_v<T, Fp>)
    return scalar_log(scalar_exp(x) + T(1));
  else
    return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

/// x if x >= 0, otherwise alpha (exp(x) - 1).
template <class T>
T scalar_elu(T x, T alpha) {
  return scalar_greater(T(0), x) ? alpha * (scalar_exp(x) - T(1)) : x;
}

template <class T>
T scalar_leaky_relu(T x, T alpha) {
  // Also holds in the field: x = relu(x) - relu(-x).
  return scalar_max<T>(x, T(0)) - alpha * scalar_max<T>(T(0) - x, T(0));
}

template <class T>
T scalar_hard_sigmoid(T x, T alpha, T beta) {
  return scalar_max<T>(T(0), scalar_min<T>(T(1), alpha * x + beta));
}

template <class T>
T scalar_softsign(T x) {
  return x / (T(1) + scalar_abs(x));
}

}  // namespace isomer
