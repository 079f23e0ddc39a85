#include "isomer/ir/field.h"

#include <bit>
#include <cmath>
#include <utility>

#include "isomer/base/hash.h"

namespace isomer {

int Fp::sign() const {
  // Jacobi symbol (v / p) by quadratic reciprocity.
  uint64_t a = v_;
  uint64_t n = kPrime;
  int result = 1;
  while (a != 0) {
    const int twos = std::countr_zero(a);
    a >>= twos;
    if ((twos & 1) != 0 && ((n & 7) == 3 || (n & 7) == 5)) result = -result;
    if ((a & 3) == 3 && (n & 3) == 3) result = -result;
    std::swap(a, n);
    a %= n;
  }
  return n == 1 ? result : 0;
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
