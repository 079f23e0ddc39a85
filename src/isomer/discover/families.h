#pragma once
// Writes rules that differ only in one operator as one family (docs/reference/rules.md, Families).

#include <span>
#include <string>

#include "isomer/rules/rule.h"

namespace isomer {

/// Returns the text of a rule file with these rules, sorted by name. Rules that are equal after an operator has been
/// replaced by the variable F wherever it occurs, up to the names of variables and records and the order of conditions,
/// are written as one family. Parsing the text gives the rules back, with those names. A rule belongs to at most one
/// family: the grouping is greedy, the largest family first. A family is named by the hash of its text without the set
/// of operators, such as `discovered-0a1b2c3d4e5f6071-{F}`, so its rules keep their names when an operator is added.
/// The rules must have canonical names (rule_names.h) and no comments.
std::string print_in_families(std::span<const Rule> rules);

}  // namespace isomer
