#include "isomer/base/printable.h"

#include <fmt/format.h>

#include "isomer/base/utf8.h"

namespace isomer {
namespace {

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

/// Line separators and marks that change the order in which a terminal shows text.
bool is_format(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string escaped(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return c < 0x80 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
                      : fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
  }
}

std::string escape(std::string_view text, bool keep_lines) {
  std::string out;
  while (!text.empty()) {
    const auto c = decode_utf8(text);
    const size_t length = c ? c->length : 1;
    if (!c)
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    else if ((is_control(c->value) || is_format(c->value)) && !(keep_lines && c->value == '\n'))
      out += escaped(c->value);
    else
      out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view name) { return escape(name, false); }
std::string printable_lines(std::string_view text) { return escape(text, true); }

}  // namespace isomer
