#pragma once
// Proof at use: a search may apply rules that are not proved in general, if each application is proved.

#include "isomer/base/function_ref.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// Returns the best graph that these rules lead to before the deadline.
using RuleSearch = FunctionRef<Result<SearchResult>(const RuleSet&, const Deadline&)>;

/// Proves each application of a rule that has no general proof. If one cannot be proved, repeats the search without its
/// rule, in half of the remaining time. The last search uses only rules that are proved in general. So does a search
/// that begins after the deadline, which finds nothing. `found` is the result of the first search and becomes that of
/// the last; the dropped rules are removed from `rules`. With `allow_tested`, nothing is proved.
Result<ProvedSteps> search_until_proved(const OptimizeOptions& options, const Graph& start, const Deadline& deadline,
                                        RuleSearch search, RuleSet& rules, SearchResult& found);

/// Returns when the first search must end, so that time is left to repeat it if a step cannot be proved.
Deadline first_search_deadline(const OptimizeOptions& options, const RuleSet& rules, const Deadline& deadline);

}  // namespace isomer
