#pragma once
// Proof at use: a search may take rules that have no proof in general, as long as every step is proved as it stands.

#include "isomer/optimize/rule_search.h"

namespace isomer {

/// Steps by rules that have no general proof are proved where they were applied; where that fails, the search is
/// repeated without these rules, in half of its time. The last one goes without all that have no general proof.
/// `found` is what a search found and becomes what the last one found; `rules` loses those that it goes without. With
/// `allow_tested`, nothing is asked.
Result<ProvedSteps> search_until_proved(const OptimizeOptions& options, const Graph& start, RuleSearch& search,
                                        RuleSet& rules, SearchResult& found);

}  // namespace isomer
