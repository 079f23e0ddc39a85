#pragma once
// One option of a run as all interfaces see it: what it is called, what it takes, what it does, and where its value is
// kept.

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
    std::vector<std::string> values = {};  ///< one of these; empty: any text
  };
  struct File {};   ///< the name of a file
  struct Texts {};  ///< a list of texts; the command line gives the option once for each
  using Domain = std::variant<Flag, IntegerRange, NumberRange, Text, File, Texts>;

  std::string name;  ///< as in C and Python: "time_budget"
  Domain domain;
  std::string help;                                  ///< one line
  std::function<nlohmann::json()> get;               ///< the value; null where there is none
  std::function<Status(const nlohmann::json&)> set;  ///< for values of the domain
  std::string note = {};         ///< a sentence on how the default differs between interfaces; empty: it does not
  std::string environment = {};  ///< a variable that is read where the option is not given; empty: none

  /// "--time-budget"; for a list, which is named in the plural, "--shape".
  std::string command_line_name() const;
  /// What it takes: "an integer from 1 to 1024".
  std::string takes() const;
  /// The value as the command line shows it; empty where there is none.
  std::string shown() const;
  /// An Error says what a value must be. Null is a value where it is the default.
  Status check(const nlohmann::json& value) const;
  /// Sets the value after a check.
  Status read(const nlohmann::json& value) const;
};

}  // namespace isomer
