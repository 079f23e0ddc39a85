#pragma once
// Reads the words and numbers of a line of text.

#include <algorithm>
#include <charconv>
#include <string_view>

namespace isomer {

/// Removes the first word and the space after it from a line, and returns it; empty at the end of the line.
inline std::string_view word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view out = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return out;
}

/// Sets `out` to the number that the text is; false if it is not one.
template <class T>
bool read_number(std::string_view text, T& out, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace isomer
