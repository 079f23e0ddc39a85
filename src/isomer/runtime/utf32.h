#pragma once
// Text as NumPy stores it: UTF-32, every element of one array padded to the same length.

#include <string>
#include <string_view>
#include <vector>

#include "isomer/base/result.h"

namespace isomer {

/// UTF-8 of one element, without its padding. Fails on what is no code point.
Result<std::string> utf8_from_utf32(std::string_view bytes, bool big_endian);

/// Elements as little-endian UTF-32, each `length` code points long.
struct Utf32 {
  size_t length = 0;
  std::string bytes;
};
/// Fails on text that is not UTF-8.
Result<Utf32> utf32_from_utf8(const std::vector<std::string>& elements);

}  // namespace isomer
