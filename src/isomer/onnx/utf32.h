#pragma once
// Text in NumPy's format: UTF-32, with all elements of an array padded to the same length.

#include <string>
#include <string_view>
#include <vector>

#include "isomer/base/result.h"

namespace isomer {

/// The UTF-8 text of one element without its padding. Fails on invalid code points.
Result<std::string> utf8_from_utf32(std::string_view bytes, bool big_endian);

/// Elements in little-endian UTF-32, each with `length` code points.
struct Utf32 {
  size_t length = 0;
  std::string bytes;
};
/// Fails on text that is not UTF-8.
Result<Utf32> utf32_from_utf8(const std::vector<std::string>& elements);

}  // namespace isomer
