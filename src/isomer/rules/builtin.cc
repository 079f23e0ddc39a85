#include "isomer/rules/builtin.h"

#include "isomer/base/file.h"

namespace isomer {

extern const char* const kWrittenRules;  // generated from rulesets/written.rules

Result<RuleFile> builtin_rule_file() { return parse_rule_file(kWrittenRules); }

Result<RuleFile> load_rule_file(const std::string& path) {
  ISOMER_TRY(const std::string text, read_file(path));
  auto parsed = parse_rule_file(text);
  if (!parsed) return fail_in(path, parsed.error());
  return parsed;
}

Result<std::vector<Rule>> builtin_rules() {
  ISOMER_TRY(RuleFile file, builtin_rule_file());
  return std::move(file.rules);
}

Result<std::vector<Rule>> load_rules(const std::string& path) {
  ISOMER_TRY(RuleFile file, load_rule_file(path));
  return std::move(file.rules);
}

}  // namespace isomer
