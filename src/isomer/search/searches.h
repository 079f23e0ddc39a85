#pragma once
// The searches, by the names that --search takes.

#include <string>
#include <vector>

#include "isomer/search/report.h"
#include "isomer/search/search.h"

namespace isomer {

/// "auto", "greedy", and the searches of parts.
std::vector<std::string> search_names();

/// greedy: measures tactics and rules. Searches of parts: exact ones take the graph as it is; the others simplify it
/// and search it part by part. auto: greedy with costs only, whose result is kept if it is measured to be faster; then
/// greedy with every step measured; then backtrack and beam for each part of the faster of the two results, and of the
/// simplified graph. Rules choose channel blocks that the evaluator's costs prefer. An Error if there is no such
/// search.
Result<SearchResult> run_search(const Candidate& first, const SearchOptions& options, const SearchContext& context);

}  // namespace isomer
