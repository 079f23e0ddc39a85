#pragma once
// Describes one option of a run for all interfaces: its name, values, effect, and where its value is stored.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "isomer/base/number_range.h"

namespace isomer {

struct Option {
  struct Flag {};  ///< true or false
  struct Text {
    std::vector<std::string> values = {};  ///< one of these; empty: any string
  };
  struct File {};   ///< the name of a file
  struct Texts {};  ///< a list of strings; on the command line, the option is repeated
  using Domain = std::variant<Flag, IntegerRange, NumberRange, Text, File, Texts>;

  std::string name;  ///< as in C and Python: "time_budget"
  Domain domain;
  std::string help;                                  ///< one line
  std::function<nlohmann::json()> get;               ///< the value; null if there is none
  std::function<Status(const nlohmann::json&)> set;  ///< takes a value of the domain
  std::string note = {};         ///< a sentence if the default differs between interfaces; else empty
  std::string environment = {};  ///< the variable that is read if the option is not given; empty: none

  /// Returns "--time-budget". The name of a list is plural, and its option singular: "--shape".
  std::string command_line_name() const;
  /// Returns a description of its values: "an integer from 1 to 1024".
  std::string takes() const;
  /// Returns the value as the command line shows it; empty if there is none.
  std::string shown() const;
  /// Checks a value; the Error says what a value must be. Null is allowed if it is the default.
  Status check(const nlohmann::json& value) const;
  /// Checks the value and sets it.
  Status read(const nlohmann::json& value) const;
};

}  // namespace isomer
