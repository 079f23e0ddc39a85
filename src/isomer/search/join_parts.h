#pragma once
// Joins what searches of parts found into one graph.

#include <span>
#include <vector>

#include "isomer/search/expansion.h"
#include "isomer/search/part.h"

namespace isomer {

/// A part and what was found for it.
struct FoundPart {
  const Part* part;
  const FoundCandidate* found;
};

/// Returns the whole with parts replaced (they must not overlap) by what was found for them.
Spliced splice(const Candidate& whole, std::span<const FoundPart> parts);

/// Appends the steps in the parts, which led from `before` to the graph with this hash. Together they become one move
/// of the whole graph, which the first of them has.
void append_steps(const Graph& before, std::span<const FoundPart> parts, uint64_t after,
                  std::vector<SearchStep>& steps);

}  // namespace isomer
