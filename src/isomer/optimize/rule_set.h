#pragma once
// Determines which rules a run may use.

#include <map>
#include <string>
#include <vector>

#include "isomer/rules/rule.h"

namespace isomer {

struct RuleSet {
  std::vector<Rule> rules;
  std::vector<Tactic> tactics;
  std::map<std::string, std::string> verdicts;  ///< by rule name
};

/// Removes one rule, or all that are not proved in general.
void drop_rule(RuleSet& rules, const std::string& name);
void drop_unproved(RuleSet& rules);

/// Returns the built-in rules, or those of `file`, without the rules in `skip`. Only rules whose verdict in the lock is
/// proved or tested are used. Rules of a file that are not in the lock are checked at once; an Error names a rule that
/// fails. `skip` may also name families and tactics; an unknown name is an Error.
Result<RuleSet> usable_rules(const std::string& file, const std::vector<std::string>& skip);

}  // namespace isomer
