#pragma once
// The floating-point types of 16 bits and less, described by their parameters and converted through double.

#include <cstdint>
#include <optional>

#include "isomer/ir/dtype.h"

namespace isomer {

/// How numbers that are out of range or between two codes are converted to a small type.
struct SmallFloatRounding {
  bool saturate = true;  ///< to the largest finite number, else to infinity or NaN (8 bits only)
  enum class Mode : uint8_t { Up, Down, Nearest } mode = Mode::Up;  ///< for the type that is all exponent (f8e8m0)
};

/// The double for a code of `dtype`; nullopt if this is not a floating-point type of 16 bits or less.
std::optional<double> small_float_value(DType dtype, uint32_t code);

/// The code of `dtype` nearest to `value`, ties to even; nullopt as above.
std::optional<uint32_t> small_float_code(DType dtype, double value, const SmallFloatRounding& rounding);

}  // namespace isomer
