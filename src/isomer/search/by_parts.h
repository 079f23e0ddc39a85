#pragma once
// Searches a large candidate part by part (MetaFlow, section 4.3): splits the graph, searches each part, joins the
// results, and then searches around each cut.

#include <span>

#include "isomer/search/part_searcher.h"

namespace isomer {

/// The evaluator must have costs; nothing is measured. Fails if a part of the candidate has no cost. The result never
/// costs more than `whole`. Equal candidates, rules, costs and options give equal results, unless the time budget ends
/// the search.
Result<SearchResult> search_by_parts(const Candidate& whole, std::span<const Rule> rules, Evaluator& evaluator,
                                     const PartsOptions& options);

}  // namespace isomer
