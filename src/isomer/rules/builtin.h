#pragma once
// The rule set that comes with the program (rulesets/written.rules).

#include <vector>

#include "isomer/rules/rule.h"

namespace isomer {

/// The built-in rules and tactics. A test ensures that they parse.
Result<RuleFile> builtin_rule_file();

/// The rules and tactics of a file. An Error names the file and the line.
Result<RuleFile> load_rule_file(const std::string& path);

/// Only the rules.
Result<std::vector<Rule>> builtin_rules();
Result<std::vector<Rule>> load_rules(const std::string& path);

}  // namespace isomer
