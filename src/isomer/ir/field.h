#pragma once
// The prime field with p = 2^61 - 1 elements, in which rules are checked exactly. Two different polynomials agree at a
// random point with a probability of at most degree / p (Schwartz-Zippel).

#include <cstdint>
#include <optional>
#include <string_view>

namespace isomer {

/// An element of the field.
class Fp {
 public:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

  constexpr Fp() = default;
  /// The residue of an integer of either sign.
  constexpr Fp(int64_t v)  // NOLINT(google-explicit-constructor): integers embed in the field
      : v_(v >= 0 ? static_cast<uint64_t>(v) % kPrime : kPrime - 1 - static_cast<uint64_t>(-(v + 1)) % kPrime) {}

  constexpr uint64_t residue() const { return v_; }

  friend constexpr Fp operator+(Fp a, Fp b) { return raw(a.v_ + b.v_ >= kPrime ? a.v_ + b.v_ - kPrime : a.v_ + b.v_); }
  friend constexpr Fp operator-(Fp a, Fp b) { return raw(a.v_ >= b.v_ ? a.v_ - b.v_ : a.v_ + kPrime - b.v_); }
  friend constexpr Fp operator-(Fp a) { return Fp() - a; }
  friend constexpr Fp operator*(Fp a, Fp b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a.v_) * b.v_;
    const uint64_t sum = static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
    return raw(sum >= kPrime ? sum - kPrime : sum);
  }
  /// Exact division. x / 0 is 0, so that evaluation is total.
  friend Fp operator/(Fp a, Fp b) { return a * b.inverse(); }
  constexpr Fp& operator+=(Fp b) { return *this = *this + b; }
  constexpr Fp& operator-=(Fp b) { return *this = *this - b; }
  constexpr Fp& operator*=(Fp b) { return *this = *this * b; }
  friend constexpr bool operator==(Fp, Fp) = default;

  constexpr Fp power(uint64_t exponent) const {
    Fp base = *this;
    Fp result(1);
    for (; exponent != 0; exponent >>= 1, base *= base)
      if ((exponent & 1) != 0) result *= base;
    return result;
  }

  /// 1 / x; 0 for 0.
  Fp inverse() const;

  /// The Legendre symbol -1, 0 or 1, used as the sign. It is multiplicative, and since p = 3 mod 4, exactly one of x
  /// and -x is positive. So relu(c x) = c relu(x) for positive c, and relu(x) - relu(-x) = x, as for real numbers.
  int sign() const;

  static constexpr Fp raw(uint64_t residue) {
    Fp x;
    x.v_ = residue;
    return x;
  }

 private:
  uint64_t v_ = 0;
};

/// The value at x (and y) of the uninterpreted function `name`: a fixed random function, different for each name.
Fp uninterpreted(std::string_view name, Fp x, Fp y = Fp());

/// The field element that exactly equals a double (every finite double is an integer times a power of two). Returns
/// nullopt for infinities and NaN.
std::optional<Fp> field_from_real(double value);

}  // namespace isomer
