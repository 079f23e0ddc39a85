#pragma once
// Proofs of the steps of a search whose rules have none in general.

#include "isomer/optimize/optimize.h"
#include "isomer/optimize/prove_moves.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// For every rule that the steps of a search apply and that is not proved in general: how many of its applications are
/// proved as they stand. Empty where there is no such rule.
Result<std::map<std::string, AppliedProofs>> prove_steps(const Graph& start, const Graph& end,
                                                         const SearchReport& search, const RuleSet& rules);

}  // namespace isomer
