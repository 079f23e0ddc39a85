#include "isomer/runtime/utf32.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace isomer {
namespace {

bool is_code_point(uint32_t c) { return c < 0x110000 && (c < 0xD800 || c > 0xDFFF); }

void append_utf8(std::string& text, uint32_t c) {
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

Result<std::u32string> code_points(std::string_view text) {
  std::u32string points;
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<uint8_t>(text[at++]);
    // The number of leading ones is the length; none means ASCII.
    const int length = std::countl_one(lead);
    if (length == 1 || length > 4) return fail("text that is not UTF-8");
    uint32_t c = length == 0 ? lead : lead & (0x7F >> length);
    for (int i = 1; i < length; ++i) {
      if (at == text.size() || (text[at] & 0xC0) != 0x80) return fail("text that is not UTF-8");
      c = c << 6 | (static_cast<uint8_t>(text[at++]) & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (!is_code_point(c) || c < kLeast[length]) return fail("text that is not UTF-8");
    points += static_cast<char32_t>(c);
  }
  return points;
}

}  // namespace

Result<std::string> utf8_from_utf32(std::string_view bytes, bool big_endian) {
  std::u32string points;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    uint32_t c = 0;
    for (size_t i = 0; i < 4; ++i) c |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
    if (big_endian) c = __builtin_bswap32(c);
    if (!is_code_point(c)) return fail("text that is not UTF-32");
    points += static_cast<char32_t>(c);
  }
  points.erase(points.find_last_not_of(U'\0') + 1);
  std::string text;
  for (const char32_t c : points) append_utf8(text, c);
  return text;
}

Result<Utf32> utf32_from_utf8(const std::vector<std::string>& elements) {
  std::vector<std::u32string> decoded;
  Utf32 result;
  for (const std::string& element : elements) {
    ISOMER_TRY(std::u32string points, code_points(element));
    result.length = std::max(result.length, points.size());
    decoded.push_back(std::move(points));
  }
  for (std::u32string& points : decoded) {
    points.resize(result.length, U'\0');
    for (const char32_t c : points) {
      for (int shift = 0; shift < 32; shift += 8) result.bytes += static_cast<char>(c >> shift & 0xFF);
    }
  }
  return result;
}

}  // namespace isomer
