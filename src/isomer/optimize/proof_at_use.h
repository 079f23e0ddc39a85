#pragma once
// Proof at use: a search may take rules that have no proof in general, as long as every step is proved as it stands.

#include "isomer/base/function_ref.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// The best graph that these rules lead to before the deadline.
using RuleSearch = FunctionRef<Result<SearchResult>(const RuleSet&, const Deadline&)>;

/// Steps by rules that have no general proof are proved where they were applied; where that fails, the search is
/// repeated without these rules, in half of the time that is left. The last one goes without all that have no general
/// proof; so does one that begins after the deadline, which finds nothing.
/// `found` is what a search found and becomes what the last one found; `rules` loses those that it goes without. With
/// `allow_tested`, nothing is asked.
Result<ProvedSteps> search_until_proved(const OptimizeOptions& options, const Graph& start, const Deadline& deadline,
                                        RuleSearch search, RuleSet& rules, SearchResult& found);

/// When the first search has to end, so that there is time to repeat it where a step cannot be proved.
Deadline first_search_deadline(const OptimizeOptions& options, const RuleSet& rules, const Deadline& deadline);

}  // namespace isomer
