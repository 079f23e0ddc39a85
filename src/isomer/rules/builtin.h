#pragma once
// The rule set that comes with the program (rulesets/written.rules).

#include <vector>

#include "isomer/rules/rule.h"

namespace isomer {

/// The built-in rules. They parse: a test says so.
Result<std::vector<Rule>> builtin_rules();

/// Rules of a file; an Error names the file and the line.
Result<std::vector<Rule>> load_rules(const std::string& path);

}  // namespace isomer
