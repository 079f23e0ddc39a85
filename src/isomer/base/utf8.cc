#include "isomer/base/utf8.h"

#include <bit>
#include <cstdint>

namespace isomer {

bool is_code_point(char32_t number) { return number < 0x110000 && (number < 0xD800 || number > 0xDFFF); }

std::optional<CodePoint> decode_utf8(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  // The number of leading ones is the length; none means ASCII.
  const int ones = std::countl_one(lead);
  if (ones == 0) return CodePoint{lead, 1};
  if (ones == 1 || ones > 4 || text.size() < static_cast<size_t>(ones)) return std::nullopt;
  char32_t value = lead & (0x7F >> ones);
  for (int i = 1; i < ones; ++i) {
    const auto byte = static_cast<uint8_t>(text[static_cast<size_t>(i)]);
    if ((byte & 0xC0) != 0x80) return std::nullopt;
    value = value << 6 | (byte & 0x3F);
  }
  constexpr char32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};  // smaller values have a shorter encoding
  if (!is_code_point(value) || value < kMin[ones]) return std::nullopt;
  return CodePoint{value, static_cast<size_t>(ones)};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto c = decode_utf8(text);
    if (!c) return false;
    text.remove_prefix(c->length);
  }
  return true;
}

void append_utf8(std::string& text, char32_t c) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace isomer
