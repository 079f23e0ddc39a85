#pragma once
// UTF-8, one code point at a time.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace isomer {

struct CodePoint {
  char32_t value;
  size_t length;  ///< bytes that it takes
};

/// The code point at the beginning of `text`, which is not empty; nothing where `text` does not begin with UTF-8.
std::optional<CodePoint> decode_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

/// Whether UTF-8 can encode the number: not a surrogate, not beyond Unicode.
bool is_code_point(char32_t number);

}  // namespace isomer
