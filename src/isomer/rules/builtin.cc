#include "isomer/rules/builtin.h"

#include <fstream>
#include <sstream>

namespace isomer {

extern const char* const kWrittenRules;  // generated from rulesets/written.rules

Result<std::vector<Rule>> builtin_rules() { return parse_rules(kWrittenRules); }

Result<std::vector<Rule>> load_rules(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail("{}: cannot be read", path);
  std::stringstream text;
  text << file.rdbuf();
  auto rules = parse_rules(text.str());
  if (!rules) return fail_in(path, rules.error());
  return rules;
}

}  // namespace isomer
