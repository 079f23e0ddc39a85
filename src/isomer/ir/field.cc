#include "isomer/ir/field.h"

#include <array>
#include <cmath>

#include "isomer/base/hash.h"

namespace isomer {

namespace {

Fp squared(Fp x, int times) {
  for (int i = 0; i < times; ++i) x *= x;
  return x;
}

constexpr size_t kSmall = 256;

std::array<Fp, kSmall> small_inverses() {
  std::array<Fp, kSmall> out;
  for (size_t i = 0; i < kSmall; ++i) out[i] = Fp(static_cast<int64_t>(i)).power(Fp::kPrime - 2);
  return out;
}

}  // namespace

int Fp::sign() const {
  // Euler's criterion: x^((p-1)/2) = x^(2^60 - 1) is 1, -1 or 0. The variable nK is x^(2^K - 1).
  const Fp n2 = squared(*this, 1) * *this;
  const Fp n4 = squared(n2, 2) * n2;
  const Fp n8 = squared(n4, 4) * n4;
  const Fp n16 = squared(n8, 8) * n8;
  const Fp n32 = squared(n16, 16) * n16;
  const Fp n48 = squared(n32, 16) * n16;
  const Fp n56 = squared(n48, 8) * n8;
  const Fp n60 = squared(n56, 4) * n4;
  return n60 == Fp() ? 0 : n60 == Fp(1) ? 1 : -1;
}

Fp Fp::inverse() const {
  static const std::array<Fp, kSmall> small = small_inverses();
  return v_ < kSmall ? small[v_] : power(kPrime - 2);
}

Fp uninterpreted(std::string_view name, Fp x, Fp y) {
  const uint64_t h = hash_mix(hash_mix(hash_text(name), x.residue()), y.residue());
  return Fp::raw(h % Fp::kPrime);
}

std::optional<Fp> field_from_real(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  // Every finite double is mantissa * 2^exponent exactly, and 2 is invertible.
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const Fp mantissa(static_cast<int64_t>(std::ldexp(fraction, 53)));
  exponent -= 53;
  const Fp two_power = Fp(2).power(static_cast<uint64_t>(std::abs(exponent)));
  return exponent >= 0 ? mantissa * two_power : mantissa / two_power;
}

}  // namespace isomer
