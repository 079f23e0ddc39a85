#pragma once
// The searches, by the names that --search takes.

#include <string>
#include <vector>

#include "isomer/search/report.h"
#include "isomer/search/search.h"

namespace isomer {

/// "auto", "greedy", and the searches of parts.
std::vector<std::string> search_names();

/// greedy: measures tactics and rules. enumerate: MetaFlow's search without a cutoff. backtrack, beam: simplifies, then
/// searches part by part, with MetaFlow's search or beam search. auto: greedy with costs only, whose result is kept if
/// it is measured to be faster; then greedy with every step measured; then backtrack from the faster of the two
/// results. Rules choose channel blocks that the evaluator's costs prefer. An Error if there is no such search.
Result<SearchResult> run_search(const Candidate& first, const SearchOptions& options, const SearchContext& context);

}  // namespace isomer
