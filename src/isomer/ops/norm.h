#pragma once
// Shared parts of the normalizations: mean and variance of elements, and their scale and shift.

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axiom_parts.h"

namespace isomer {

/// The elements of a real tensor of any real type as T (scale and statistics may have another type than the data).
template <class T>
std::vector<T> real_elements(const Tensor& tensor) {
  std::vector<T> out;
  if constexpr (std::is_same_v<T, Fp>) {
    const auto data = tensor.data<Fp>();
    out.assign(data.begin(), data.end());
  } else if (tensor.dtype() == DType::Float) {
    for (const float v : tensor.data<float>()) out.push_back(static_cast<T>(v));
  } else {
    for (const double v : tensor.data<double>()) out.push_back(static_cast<T>(v));
  }
  return out;
}

/// Writes element i of a real result of any width.
template <class T>
void set_real(Tensor& tensor, size_t i, T value) {
  if constexpr (std::is_same_v<T, Fp>)
    tensor.mutable_data<Fp>()[i] = value;
  else if (tensor.dtype() == DType::Float)
    tensor.mutable_data<float>()[i] = static_cast<float>(value);
  else
    tensor.mutable_data<double>()[i] = static_cast<double>(value);
}

template <class Sum>
struct Moments {
  Sum mean;
  Sum variance;
};

/// Mean and population variance of `x`.
template <class T, class Sum = Accumulator<T>>
Moments<Sum> moments(std::span<const T> x) {
  Sum sum(0);
  for (const T v : x) sum += static_cast<Sum>(v);
  const Sum n = from_count<Sum>(static_cast<int64_t>(x.size()));
  const Sum mean = sum / n;
  Sum squares(0);
  for (const T v : x) squares += (static_cast<Sum>(v) - mean) * (static_cast<Sum>(v) - mean);
  return {mean, squares / n};
}

/// (x - mean) / sqrt(variance + epsilon) scale + bias. mean_of(f) is the mean of f over the elements that are
/// normalized together.
Element normalized(Scope& scope, const Element& x,
                   const std::function<Element(const std::function<Element(const Element&)>&)>& mean_of,
                   const Element& epsilon, const Element& scale, const Element& bias);

}  // namespace isomer
