#pragma once
// The most general form of a rule that the bounded checker confirms.

#include "isomer/discover/relaxation.h"
#include "isomer/discover/rule_checker.h"

namespace isomer {

/// A rule with what the checker says of it.
struct CheckedRule {
  Rule rule;
  RuleVerdict verdict;
};

/// Tries each plan as a whole; where none is confirmed, halves of all relaxations, and so on to single ones. The form
/// that comes of it is checked within full bounds; if it fails, the last relaxations are taken back until it passes.
/// Nothing when not even the rule itself passes.
std::optional<CheckedRule> generalize(const Rule& rule, const RelaxationPlans& plans, RuleChecker& checker);

}  // namespace isomer
