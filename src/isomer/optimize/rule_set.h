#pragma once
// Which rules a run may use.

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

/// Takes a rule out; all that are not proved in general.
void drop_rule(RuleSet& rules, const std::string& name);
void drop_unproved(RuleSet& rules);

/// The built-in rules, or those of `file`, without the `skip`ped ones. Only rules that the lock calls proved or tested;
/// rules of a file that the lock does not know are checked on the spot, and an Error names one that does not pass.
/// `skip` names tactics, too; an unknown name is an Error.
Result<RuleSet> usable_rules(const std::string& file, const std::vector<std::string>& skip);

}  // namespace isomer
