#pragma once
// Searches a large candidate part by part (MetaFlow, section 4.3): splits the graph, searches each part, joins the
// results, and then searches around each cut.

#include <functional>
#include <span>
#include <string>

#include "isomer/base/observer.h"
#include "isomer/search/expansion.h"

namespace isomer {

/// Returns the cheapest candidate that a search finds for a part. Fails only if the part itself has no cost.
using PartSearch = std::function<Result<FoundCandidate>(const Candidate& part, std::span<const Rule> rules,
                                                        const CandidateCost& cost, const SearchLimits& limits)>;

/// When layouts are chosen together, instead of kernel by kernel in the plan (search/layouts.h).
enum class LayoutTime : uint8_t {
  Never,
  AfterSearch,    ///< for the result of each part
  EachCandidate,  ///< candidates cost what they cost with the layouts chosen for them (TASO, section 2.7)
};

struct PartsOptions {
  std::string algorithm = {};  ///< for the report
  PartSearch search = nullptr;
  /// Maximum number of operators per part.
  size_t split = static_cast<size_t>(SearchOptions().split);
  LayoutTime layouts = LayoutTime::Never;  ///< no effect unless the costs obey decisions about layouts
  /// Of each part, but the time is that of all parts together. The evaluator of search_by_parts is used.
  SearchLimits limits = {};
  /// How many parts are searched at the same time, if costs are not measured. The result does not depend on it, unless
  /// a time limit ends the search of a part.
  int threads = 1;
  Observer observer = {};
};

/// The evaluator must have costs; nothing is measured. Fails if a part of the candidate has no cost. The result never
/// costs more than `whole`. Equal candidates, rules, costs and options give equal results, unless the time budget ends
/// the search.
Result<SearchResult> search_by_parts(const Candidate& whole, std::span<const Rule> rules, Evaluator& evaluator,
                                     const PartsOptions& options);

}  // namespace isomer
