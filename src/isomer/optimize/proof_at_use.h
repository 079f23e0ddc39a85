#pragma once
// Proof at use: each application of a rule that led to the result is proved as it stands.

#include "isomer/base/function_ref.h"
#include "isomer/certificate/replay.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/rule_set.h"
#include "isomer/search/report.h"

namespace isomer {

/// Returns the best graph that these rules lead to within the budget.
using RuleSearch = FunctionRef<Result<SearchResult>(const RuleSet&, const Budget&)>;

/// Proves each application. Where proofs give up (at what they do not cover, or a limit), the general proof of the rule
/// stands, if it has one. If an application is not proved, repeats the search without its rule, in half of the
/// remaining time. The fourth search uses only rules that are proved in general; if it takes a step that is not proved
/// either, the result is `start`. A search that begins when the budget is spent finds nothing. `folded` are constants
/// that the searches computed and checked. `found` is the result of the first search and becomes that of the last; the
/// dropped rules are removed from `rules`. With `allow_tested`, nothing is proved.
Result<ProvedSteps> search_until_proved(const OptimizeOptions& options, const Graph& start, const Budget& budget,
                                        RuleSearch search, const replay::KnownConstants& folded, RuleSet& rules,
                                        SearchResult& found);

/// Returns the budget of the first search. It leaves time to repeat the search if a step cannot be proved.
Budget first_search_budget(const OptimizeOptions& options, const RuleSet& rules, const Budget& budget);

}  // namespace isomer
