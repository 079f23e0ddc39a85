#pragma once
// The verdict on a rule: a proof, and exactness on small instances.

#include "isomer/verify/proof/prove.h"
#include "isomer/verify/rule_check.h"

namespace isomer {

/// As check_rule; a rule that is `tested` and has a proof from the axioms is `proved`, and of one without a proof `how`
/// says where that failed. Of a rule that has a proof, an eighth of the instances is tried where these are enough.
RuleVerdict verify_rule(const Rule& rule, const CheckBounds& bounds = {});

/// All rules, on `threads` threads; the result does not depend on how many.
std::vector<RuleVerdict> verify_rules(const std::vector<Rule>& rules, const CheckBounds& bounds, int threads);

}  // namespace isomer
