#pragma once
// Searches a candidate by parts, with costs only, and measures what that found.

#include "isomer/search/part_searches.h"
#include "isomer/search/search.h"

namespace isomer {

/// Searches a candidate by parts and prepares the result. Returns the candidate itself, with a rejection, if one of its
/// kernels cannot be measured at all or in time.
SearchResult search_unmeasured(const Candidate& first, const NamedPartSearch& how, const SearchOptions& options,
                               const SearchContext& context);

/// The same, and again without each of the rules that this used most: costs are per kernel, and a rule whose effect
/// they misjudge must not spoil the rest. The evaluator decides which result is best, and whether it is better than
/// `first`. After an interrupt, the results are measured only if something is `known_better`.
SearchResult search_measured(const Candidate& first, const NamedPartSearch& how, const SearchOptions& options,
                             const SearchContext& context, bool known_better);

}  // namespace isomer
