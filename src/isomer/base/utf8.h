#pragma once
// UTF-8, one code point at a time.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace isomer {

struct CodePoint {
  char32_t value;
  size_t length;  ///< in bytes
};

/// The first code point of `text`, which must not be empty; nullopt if `text` does not begin with valid UTF-8.
std::optional<CodePoint> decode_utf8(std::string_view text);

/// Whether all of `text` is valid UTF-8.
bool is_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

/// Whether UTF-8 can encode the number: it is in the range of Unicode and not a surrogate.
bool is_code_point(char32_t number);

}  // namespace isomer
