#pragma once
// The searches of parts, by the names that --search takes.

#include <span>

#include "isomer/search/by_parts.h"

namespace isomer {

struct NamedPartSearch {
  std::string name;
  PartSearch (*make)(const SearchOptions& options);
  /// Finds the best graph that the rules lead to: it searches the graph as it is given, whole, and any number of
  /// candidates.
  bool exact = false;
};

/// "backtrack", "beam", "sample", "saturate", "enumerate", "prune", "dpp".
std::span<const NamedPartSearch> part_searches();

/// Returns the search of that name, which must exist.
const NamedPartSearch& part_search(std::string_view name);

/// Runs backtracking and then beam search on each part, and returns the cheaper result.
const NamedPartSearch& backtrack_and_beam();

}  // namespace isomer
