#pragma once
// Searches for a graph that is fast when its kernels run side by side (AutoGraph: Zhao et al., AAAI 2023).

#include "isomer/search/report.h"
#include "isomer/search/search.h"

namespace isomer {

/// Algorithm 1: takes the fastest graph, divides it into parts, searches runs of neighboring parts by backtracking with
/// the mixed critical-path cost (search/mixed_cost.h), chooses the runs and their graphs by dynamic programming,
/// measures the best of these graphs as a whole, and continues from those that are faster than any before, until none
/// is, or the budget is spent.
///
/// Differs from the paper where that has errors: a graph is measured once, and must be faster by a 95% interval, as
/// equal graphs would be queued for ever with noisy times. Changes of costs are added, not costs, because the critical
/// paths of parts do not add up, and whole graphs are ranked by their own costs.
///
/// Where costs decide, graphs are compared by the evaluator's objective instead of being measured. After an interrupt,
/// a graph that was not measured is the result, unless a faster one was found or `first` is already `known_better` than
/// the model. Returns the candidate itself, with a rejection, if one of its kernels cannot be measured.
SearchResult autograph_search(const Candidate& first, const SearchOptions& options, const SearchContext& context,
                              bool known_better);

}  // namespace isomer
