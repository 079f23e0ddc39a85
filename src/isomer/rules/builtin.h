#pragma once
// The rule set that comes with the program (rulesets/written.rules).

#include <vector>

#include "isomer/rules/rule.h"

namespace isomer {

/// The built-in rules and tactics. They parse: a test says so.
Result<RuleFile> builtin_rule_file();

/// Rules and tactics of a file; an Error names the file and the line.
Result<RuleFile> load_rule_file(const std::string& path);

/// The rules alone.
Result<std::vector<Rule>> builtin_rules();
Result<std::vector<Rule>> load_rules(const std::string& path);

}  // namespace isomer
