#pragma once
// The verdict on a rule: a proof, and the exact check on small instances.

#include "isomer/check/rule_check.h"
#include "isomer/proof/prove.h"
#include "isomer/rules/lock.h"

namespace isomer {

/// Like check_rule, but a rule that is `tested` and has a proof from the axioms is `proved`. If there is no proof,
/// `how` says where it failed. For a rule with a proof, an eighth of the instances is tried, if those are enough.
RuleVerdict verify_rule(const Rule& rule, const CheckBounds& bounds = {});

/// Verifies all rules on `threads` threads; the result does not depend on their number.
std::vector<RuleVerdict> verify_rules(const std::vector<Rule>& rules, const CheckBounds& bounds, int threads);

/// Returns the entry of the lock of verdicts for a rule with this verdict.
LockEntry lock_entry(const Rule& rule, const RuleVerdict& verdict);

}  // namespace isomer
