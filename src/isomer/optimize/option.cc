#include "isomer/optimize/option.h"

#include <algorithm>

namespace isomer {
namespace {

using nlohmann::json;

/// "ort, onednn or roofline"
std::string alternatives(const std::vector<std::string>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
  return text;
}

struct Takes {
  std::string operator()(Option::Flag) const { return "true or false"; }
  std::string operator()(const IntegerRange& range) const { return range.str(); }
  std::string operator()(const NumberRange& range) const { return range.str(); }
  std::string operator()(const Option::Text& text) const {
    return text.values.empty() ? "a string" : alternatives(text.values);
  }
  std::string operator()(Option::File) const { return "the name of a file"; }
  std::string operator()(Option::Texts) const { return "a list of strings"; }
};

/// Returns whether a value is in a domain.
struct IsOf {
  const json& value;

  bool operator()(Option::Flag) const { return value.is_boolean(); }
  bool operator()(const IntegerRange& range) const {
    // JSON numbers above the maximum of int64_t are stored as unsigned.
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX});
    return fits && range.check(value.get<int64_t>()).has_value();
  }
  bool operator()(const NumberRange& range) const {
    return value.is_number() && range.check(value.get<double>()).has_value();
  }
  bool operator()(const Option::Text& text) const {
    return value.is_string() &&
           (text.values.empty() || std::ranges::find(text.values, value.get<std::string>()) != text.values.end());
  }
  bool operator()(Option::File) const { return value.is_string(); }
  bool operator()(Option::Texts) const {
    return value.is_array() && std::ranges::all_of(value, [](const json& one) { return one.is_string(); });
  }
};

}  // namespace

std::string Option::command_line_name() const {
  std::string text = "--" + name;
  std::ranges::replace(text, '_', '-');
  if (std::holds_alternative<Texts>(domain)) text.pop_back();
  return text;
}

std::string Option::takes() const { return std::visit(Takes{}, domain); }

std::string Option::shown() const {
  const json value = get();
  if (value.is_null() || value.is_array()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{:g}", value.get<double>()) : value.dump();
}

Status Option::check(const json& value) const {
  const bool unset = value.is_null() && get().is_null();
  if (!unset && !std::visit(IsOf{value}, domain)) return fail("must be {}", takes());
  return {};
}

Status Option::read(const json& value) const {
  ISOMER_CHECK(check(value));
  return value.is_null() ? Status() : set(value);
}

}  // namespace isomer
