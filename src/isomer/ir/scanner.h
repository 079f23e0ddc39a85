#pragma once
// A small scanner for the text formats (graphs, rules). Skips blanks and `#` comments and counts lines.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "isomer/base/result.h"

namespace isomer {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Skips blanks, newlines and comments.
  void skip();
  bool at_end() {
    skip();
    return at_ >= text_.size();
  }
  /// The next character after blanks, without consuming it; 0 at the end.
  char peek();
  /// Whether the rest (after blanks) begins with `token`. Consumes nothing.
  bool looking_at(std::string_view token);
  /// Consumes `token` if it comes next.
  bool accept(std::string_view token);
  /// Consumes `word` if it comes next as a complete word.
  bool accept_word(std::string_view word);
  Status expect(std::string_view token);
  /// Reads letters, digits, and those of `_ . - : / $ @ %` that are in `extra`. Must not begin with a digit or '-'.
  Result<std::string> identifier(std::string_view extra = "_");
  Result<std::string> quoted_string();
  /// Reads a number. `is_float` becomes true if it has a '.' or an exponent, or is inf or nan.
  Result<double> number(bool& is_float);
  Result<int64_t> integer();
  /// The text up to the first of `stops` outside of parentheses and brackets, trimmed.
  std::string raw_until(std::string_view stops);

  int line() const { return line_; }
  size_t position() const { return at_; }
  void rewind(size_t position, int line) {
    at_ = position;
    line_ = line;
  }
  tl::unexpected<Error> error(const std::string& message) const { return fail("line {}: {}", line_, message); }

 private:
  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace isomer
