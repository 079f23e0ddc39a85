#pragma once
// Proves the steps of a search whose rules are not proved in general.

#include "isomer/optimize/optimize.h"
#include "isomer/optimize/prove_moves.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// Returns, for every rule in the steps that is not proved in general, how many of its applications are proved. Empty
/// if there is no such rule.
Result<std::map<std::string, AppliedProofs>> prove_steps(const Graph& start, const Graph& end,
                                                         const SearchReport& search, const RuleSet& rules);

}  // namespace isomer
