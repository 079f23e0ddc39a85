#pragma once
// Functions of vectors of f32 for our own kernels. NaN stays NaN.

#include <cstdint>
#include <cstring>

#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {

/// y = e^x, with a relative error of at most 2e-7. Numbers below -87.3 or above 88.3 count as these.
template <class Vector>
ISOMER_INLINE void exponential(const Vector& given, Vector& y) {
  typedef uint32_t Bits __attribute__((vector_size(sizeof(Vector))));
  constexpr float kLargest = 88.3F, kSmallest = -87.3F;
  const Vector largest = Vector{} + kLargest, smallest = Vector{} + kSmallest;
  Vector x = given > largest ? largest : given;
  x = x < smallest ? smallest : x;
  // The sum with 3 * 2^22 has x / ln 2, rounded, in its last bits.
  constexpr float kRounder = 12582912;
  const Vector rounded = x * 1.44269504F + kRounder;
  const Vector power = rounded - kRounder;
  const Vector r = (x - power * 0.693359375F) + power * 2.12194440e-4F;  // ln 2 in two parts, the first one exact
  // e^r = 1 + r + r^2 q(r). The coefficients of q minimize the relative error of e^r (3e-9).
  Vector q = r * 0.0013814467F + 0.0083687808F;
  q = q * r + 0.0416683927F;
  q = q * r + 0.1666651964F;
  q = q * r + 0.4999999404F;
  y = r * r * q + r + 1.0F;
  Bits exponent, bits;
  std::memcpy(&exponent, &rounded, sizeof(Vector));
  std::memcpy(&bits, &y, sizeof(Vector));
  bits += exponent << 23;
  std::memcpy(&y, &bits, sizeof(Vector));
  y = given != given ? given : y;
}

/// x = 1 / (1 + e^-x)
template <class Vector>
ISOMER_INLINE void sigmoid(Vector& x) {
  Vector e;
  exponential(Vector(-x), e);
  constexpr float kSmallest = -88;  // below, the result counts as 0
  x = x < kSmallest ? Vector{} : 1.0F / (1.0F + e);
}

/// x = tanh x
template <class Vector>
ISOMER_INLINE void hyperbolic_tangent(Vector& x) {
  // For small x, x + x^3 p(x^2). The coefficients of p minimize the relative error of tanh (4e-9).
  const Vector square = x * x;
  Vector p = square * -0.0057170424F + 0.0206505843F;
  p = p * square - 0.0537434965F;
  p = p * square + 0.1333149076F;
  p = p * square - 0.3333328366F;
  const Vector small = x * (1.0F + square * p);
  const Vector magnitude = x < 0.0F ? Vector(-x) : x;
  Vector e;
  exponential(Vector(magnitude + magnitude), e);
  const Vector large = 1.0F - 2.0F / (e + 1.0F);
  const Vector with_sign = x < 0.0F ? Vector(-large) : large;
  x = magnitude < 0.625F ? small : with_sign;
}

/// x = erf x, with a relative error of at most 5e-7. Also of single numbers.
template <class Number>
ISOMER_INLINE void error_function(Number& x) {
  // erf(x) = x P(x^2) / Q(x^2) for |x| <= 4; beyond, it is 1 in f32. The coefficients minimize the relative error
  // (2.5e-8), by weighted least squares whose weights follow the error.
  constexpr float kOver[] = {1.128379106521606F,    0.19354356825351715F,  0.05310149863362312F,
                             0.003883265657350421F, 0.000284561887383461F, 1.986765710171312e-06F};
  constexpr float kUnder[] = {1,
                              0.5048561096191406F,
                              0.11534933745861053F,
                              0.015207096934318542F,
                              0.0011855477932840586F,
                              3.741978798643686e-05F};
  const Number limit = Number{} + 4.0F;
  const Number one = Number{} + 1.0F;
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  const Number square = x * x;
  Number over = Number{} + kOver[5], under = Number{} + kUnder[5];
#pragma GCC unroll 5
  for (int i = 4; i >= 0; --i) {
    over = over * square + kOver[i];
    under = under * square + kUnder[i];
  }
  x = x * over / under;
  x = x > one ? one : x;
  x = x < -one ? -one : x;
}

}  // namespace isomer::onednn
