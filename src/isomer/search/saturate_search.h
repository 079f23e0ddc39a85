#pragma once
// Equality saturation as a search (TENSAT, Yang et al., MLSys 2021): all graphs that the rules lead to are put into one
// e-graph, and the cheapest one is extracted.

#include "isomer/egraph/explore.h"
#include "isomer/search/expansion.h"

namespace isomer {

struct SaturateOptions {
  bool exact = true;                                                 ///< extract by an integer program, not greedily
  double extract_seconds = SearchOptions().extract_seconds;          ///< for one extraction by an integer program
  size_t nodes = static_cast<size_t>(SearchOptions().egraph_nodes);  ///< of the e-graph
  size_t iterations = static_cast<size_t>(SearchOptions().egraph_iterations);
  SearchLimits limits = {};
};

/// Saturates, extracts by the sum of the costs of single operators, and derives the extracted graph from the first one
/// by single steps (search/guide.h). The cost of every graph on the way decides, which knows fused kernels; the
/// cheapest is returned, with its steps. A choice of the extraction to which no steps lead is forbidden, and the
/// extraction is repeated, a few times at most. Equal graphs, rules, costs and options give equal results, unless a
/// time limit ends the search. Fails only if `first` itself has no cost.
Result<FoundCandidate> saturate_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                       const SaturateOptions& options);

}  // namespace isomer
