#pragma once
// Proves the steps of a search as they were applied.

#include "isomer/optimize/application_prover.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// Returns, for every rule in the steps from `start` to `end`, how many of its applications are proved. A general proof
/// of a rule does not count: it covers listed structures only. `folded` are constants that the search
/// computed and checked. An Error if the steps do not lead to `end`.
Result<std::map<std::string, AppliedProofs>> prove_steps(const Graph& start, const Graph& end,
                                                         const SearchReport& search, const RuleSet& rules,
                                                         const replay::KnownConstants& folded);

}  // namespace isomer
