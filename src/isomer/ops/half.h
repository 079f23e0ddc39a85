#pragma once
// ONNX's 16-bit floating-point types, with conversion to float and back (round to nearest even).

#include <bit>
#include <cmath>
#include <cstdint>

namespace isomer {

/// IEEE binary16.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(from_float(value)) {}
  operator float() const {  // NOLINT(google-explicit-constructor): lossless
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1f;
    const uint32_t mantissa = bits & 0x3ff;
    if (exponent == 0) {  // zero and subnormals: mantissa * 2^-24
      const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
      return sign != 0 ? -magnitude : magnitude;
    }
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  }

 private:
  static uint16_t from_float(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((x >> 16) & 0x8000);
    const uint32_t magnitude = x & 0x7fffffff;
    if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // NaN
    if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // 65536 and above
    if (magnitude < 0x38800000) {                                              // below 2^-14: subnormal
      const float scaled = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
      return static_cast<uint16_t>(sign | static_cast<uint16_t>(scaled));
    }
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
  }
};

/// bfloat16: the upper half of a float.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const uint32_t x = std::bit_cast<uint32_t>(value);
    bits = std::isnan(value) ? static_cast<uint16_t>((x >> 16) | 0x40)
                             : static_cast<uint16_t>((x + 0x7fff + ((x >> 16) & 1)) >> 16);
  }
  operator float() const {  // NOLINT(google-explicit-constructor): lossless
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

}  // namespace isomer
