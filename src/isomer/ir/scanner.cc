#include "isomer/ir/scanner.h"

#include <cctype>
#include <charconv>

namespace isomer {
namespace {

bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

void Scanner::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (c == '\n') ++line_;
      ++at_;
    } else {
      return;
    }
  }
}

char Scanner::peek() {
  skip();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Scanner::looking_at(std::string_view token) {
  skip();
  return text_.substr(at_, token.size()) == token;
}

bool Scanner::accept(std::string_view token) {
  if (!looking_at(token)) return false;
  at_ += token.size();
  return true;
}

bool Scanner::accept_word(std::string_view word) {
  if (!looking_at(word)) return false;
  const size_t end = at_ + word.size();
  if (end < text_.size() && (is_alpha(text_[end]) || is_digit(text_[end]) || text_[end] == '_' || text_[end] == '-'))
    return false;
  at_ = end;
  return true;
}

Status Scanner::expect(std::string_view token) {
  if (accept(token)) return {};
  const std::string found(text_.substr(at_, 20));
  return error(fmt::format("expected '{}' before '{}'", token, found.substr(0, found.find('\n'))));
}

Result<std::string> Scanner::identifier(std::string_view extra) {
  skip();
  const size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const bool inner = is_digit(c) || c == '-';
    if (!(is_alpha(c) || c == '_' || is_digit(c) || extra.find(c) != std::string_view::npos)) break;
    if (at_ == begin && inner) break;
    ++at_;
  }
  if (at_ == begin) {
    const std::string found(text_.substr(at_, 20));
    return error(fmt::format("expected a name before '{}'", found.substr(0, found.find('\n'))));
  }
  return std::string(text_.substr(begin, at_ - begin));
}

Result<std::string> Scanner::quoted_string() {
  ISOMER_CHECK(expect("\""));
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c == '\n') ++line_;
    if (c == '\\' && at_ < text_.size()) {
      c = text_[at_++];
      if (c == 'x' && at_ + 2 <= text_.size()) {
        int value = 0;
        std::from_chars(text_.data() + at_, text_.data() + at_ + 2, value, 16);
        at_ += 2;
        c = static_cast<char>(value);
      } else if (c == 'n') {
        c = '\n';
      }
    }
    out += c;
  }
  ISOMER_CHECK(expect("\""));
  return out;
}

Result<double> Scanner::number(bool& is_float) {
  skip();
  // Not strtod, because it depends on the program's locale.
  const std::string_view rest = text_.substr(at_, 64);
  double value = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const auto length = status == std::errc() ? static_cast<size_t>(end - rest.data()) : 0;
  if (length == 0) return error(fmt::format("expected a number before '{}'", rest.substr(0, 12)));
  is_float = rest.substr(0, length).find_first_of(".eEnN") != std::string::npos;
  at_ += length;
  return value;
}

Result<int64_t> Scanner::integer() {
  skip();
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (status != std::errc()) return error("expected an integer");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

std::string Scanner::raw_until(std::string_view stops) {
  skip();
  const size_t begin = at_;
  int depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == '\n') ++line_;
    ++at_;
  }
  std::string out(text_.substr(begin, at_ - begin));
  while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back())) != 0) out.pop_back();
  return out;
}

}  // namespace isomer
