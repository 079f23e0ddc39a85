#include "isomer/onnx/utf32.h"

#include <algorithm>
#include <cstdint>

#include "isomer/base/utf8.h"

namespace isomer {
namespace {

Result<std::u32string> code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    const auto c = decode_utf8(text);
    if (!c) return fail("text that is not UTF-8");
    points += c->value;
    text.remove_prefix(c->length);
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
