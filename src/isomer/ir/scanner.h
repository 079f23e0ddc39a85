#pragma once
// A hand-sized scanner for the text forms (graphs, rules): skips blanks and `#` comments, knows its line.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "isomer/base/result.h"

namespace isomer {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Skips blanks and comments, newlines too.
  void skip();
  bool at_end() {
    skip();
    return at_ >= text_.size();
  }
  /// The next character after blanks, without taking it; 0 at the end.
  char peek();
  /// Whether the rest (after blanks) begins with `token`, without taking it.
  bool looking_at(std::string_view token);
  /// Takes `token` if it comes next.
  bool accept(std::string_view token);
  /// Takes the word `word`, if it comes next and ends there.
  bool accept_word(std::string_view word);
  Status expect(std::string_view token);
  /// Letters, digits, and any of `_ . - : / $ @ %` as `extra` allows; must not begin with a digit or '-'.
  Result<std::string> identifier(std::string_view extra = "_");
  Result<std::string> quoted_string();
  /// A number; `is_float` says whether it has a '.', an exponent or is inf/nan.
  Result<double> number(bool& is_float);
  Result<int64_t> integer();
  /// All up to the first of `stops` outside of parentheses and brackets, trimmed.
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
