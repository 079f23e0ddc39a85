#pragma once
// Finds the most general form of a rule that the bounded checker confirms.

#include "isomer/discover/relaxation.h"
#include "isomer/discover/rule_checker.h"

namespace isomer {

/// A rule with its verdict.
struct CheckedRule {
  Rule rule;
  RuleVerdict verdict;
};

/// Tries each plan as a whole; if none is confirmed, halves of all relaxations, and so on down to single ones. The
/// resulting form is checked within full bounds; while it fails, the last relaxations are undone. Returns nothing if
/// even the rule itself fails.
std::optional<CheckedRule> generalize(const Rule& rule, const RelaxationPlans& plans, RuleChecker& checker);

}  // namespace isomer
