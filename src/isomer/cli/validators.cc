#include "isomer/cli/validators.h"

#include <charconv>
#include <optional>

namespace isomer {
namespace {

/// Reads a text that consists of one decimal number.
template <class Number>
std::optional<Number> parse(const std::string& text) {
  Number value = 0;
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, value);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Checks a text and writes the number in a form that every parser reads in the same way (not "010").
template <class Number, class Range>
CLI::Validator validator(Range range, const std::string& brief) {
  const auto check = [range](std::string& text) -> std::string {
    const auto value = parse<Number>(text);
    if (!value || !range.check(*value)) return fmt::format("must be {}, not '{}'", range.str(), text);
    text = fmt::format("{}", *value);
    return "";
  };
  return CLI::Validator(check, brief);
}

}  // namespace

CLI::Validator in_range(NumberRange range) {
  const bool bounded = range.max != NumberRange{.min = 0}.max;
  return validator<double>(range, bounded ? fmt::format("{:g} to {:g}", range.min, range.max)
                                          : fmt::format("{} {:g}", range.open ? ">" : ">=", range.min));
}

CLI::Validator in_range(IntegerRange range) {
  const bool bounded = range.max != IntegerRange{.min = 0}.max;
  return validator<int64_t>(range,
                            bounded ? fmt::format("{} to {}", range.min, range.max) : fmt::format(">= {}", range.min));
}

}  // namespace isomer
