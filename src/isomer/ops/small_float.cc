#include "isomer/ops/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer {
namespace {

/// The meaning of the codes above the finite numbers.
enum class Specials : uint8_t {
  InfinityAndNan,  // as IEEE 754: the largest exponent
  NanOnly,         // all ones
  NegativeZero,    // NaN has the code of -0
  None,
};

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
  bool always_saturates = false;
  bool never_saturates = false;

  uint32_t sign_bit() const { return uint32_t{1} << (exponent_bits + mantissa_bits); }
  uint32_t infinity() const { return ((uint32_t{1} << exponent_bits) - 1) << mantissa_bits; }
  uint32_t largest() const {
    if (specials == Specials::InfinityAndNan) return infinity() - 1;
    return specials == Specials::NanOnly ? sign_bit() - 2 : sign_bit() - 1;
  }
  uint32_t nan(uint32_t sign) const {
    switch (specials) {
      case Specials::InfinityAndNan:
        return sign | infinity() | (uint32_t{1} << (mantissa_bits - 1));
      case Specials::NanOnly:
        return sign | (sign_bit() - 1);
      default:  // NegativeZero; or -0, because there is no NaN
        return sign_bit();
    }
  }
};

std::optional<Format> format_of(DType dtype) {
  switch (dtype) {
    case DType::Half:
      return Format{5, 10, 15, Specials::InfinityAndNan, false, true};
    case DType::BFloat16:
      return Format{8, 7, 127, Specials::InfinityAndNan, false, true};
    case DType::Float8E4M3FN:
      return Format{4, 3, 7, Specials::NanOnly};
    case DType::Float8E4M3FNUZ:
      return Format{4, 3, 8, Specials::NegativeZero};
    case DType::Float8E5M2:
      return Format{5, 2, 15, Specials::InfinityAndNan};
    case DType::Float8E5M2FNUZ:
      return Format{5, 2, 16, Specials::NegativeZero};
    case DType::Float4E2M1:
      return Format{2, 1, 1, Specials::None, true};
    case DType::Float6E2M3:
      return Format{2, 3, 1, Specials::None, true};
    case DType::Float6E3M2:
      return Format{3, 2, 3, Specials::None, true};
    default:
      return std::nullopt;
  }
}

double value_of(const Format& format, uint32_t code) {
  const double sign = (code & format.sign_bit()) != 0 ? -1 : 1;
  const uint32_t magnitude = code & (format.sign_bit() - 1);
  if (format.specials == Specials::NegativeZero && code == format.sign_bit())
    return std::numeric_limits<double>::quiet_NaN();
  if (format.specials == Specials::InfinityAndNan && magnitude == format.infinity())
    return sign * std::numeric_limits<double>::infinity();
  if (magnitude > format.largest()) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32_t mantissa = magnitude & ((uint32_t{1} << format.mantissa_bits) - 1);
  const uint32_t hidden = exponent == 0 ? 0 : uint32_t{1} << format.mantissa_bits;
  return sign * std::ldexp(hidden + mantissa, std::max(exponent, 1) - format.bias - format.mantissa_bits);
}

uint32_t code_of(const Format& format, double value, bool saturate) {
  const uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return format.nan(sign);
  saturate = (saturate || format.always_saturates) && !format.never_saturates;
  const uint32_t beyond = saturate                                      ? sign | format.largest()
                          : format.specials == Specials::InfinityAndNan ? sign | format.infinity()
                                                                        : format.nan(sign);
  if (std::isinf(value)) return beyond;
  const double size = std::abs(value);
  const int lowest = 1 - format.bias;
  const int exponent = size == 0 ? lowest : std::max(std::ilogb(size), lowest);
  if (exponent > format.bias + 2) return beyond;
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, format.mantissa_bits - exponent)));
  const uint32_t code = (static_cast<uint32_t>(exponent - lowest) << format.mantissa_bits) + units;
  if (code > format.largest()) return beyond;
  return format.specials == Specials::NegativeZero && code == 0 ? 0 : sign | code;
}

/// f8e8m0: code c is 2^(c - 127), and 255 is NaN.
uint32_t exponent_code(double value, const SmallFloatRounding& rounding) {
  constexpr uint32_t kNan = 255;
  const double size = std::abs(value);
  if (std::isnan(value)) return kNan;
  if (size == 0) return rounding.saturate ? 0 : kNan;
  if (std::isinf(size)) return rounding.saturate ? kNan - 1 : kNan;
  const int floor = std::ilogb(size);
  const double mantissa = std::ldexp(size, -floor);
  using Mode = SmallFloatRounding::Mode;
  const bool up = rounding.mode == Mode::Up ? mantissa > 1 : rounding.mode == Mode::Nearest && mantissa >= 1.5;
  const int code = floor + (up ? 1 : 0) + 127;
  if (code >= 0 && code < static_cast<int>(kNan)) return static_cast<uint32_t>(code);
  if (!rounding.saturate) return kNan;
  return code < 0 ? 0 : kNan - 1;
}

}  // namespace

std::optional<double> small_float_value(DType dtype, uint32_t code) {
  if (dtype == DType::Float8E8M0)
    return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, static_cast<int>(code) - 127);
  const auto format = format_of(dtype);
  if (!format) return std::nullopt;
  return value_of(*format, code);
}

std::optional<uint32_t> small_float_code(DType dtype, double value, const SmallFloatRounding& rounding) {
  if (dtype == DType::Float8E8M0) return exponent_code(value, rounding);
  const auto format = format_of(dtype);
  if (!format) return std::nullopt;
  return code_of(*format, value, rounding.saturate);
}

}  // namespace isomer
