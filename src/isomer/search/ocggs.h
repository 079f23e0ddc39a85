#pragma once
// OCGGS's exact searches, with a repaired order between substitutions (Fang et al., PVLDB 2020, algorithms 1 and 2).

#include "isomer/search/reached_graphs.h"

namespace isomer {

/// Pruning: reaches the graphs of enumerate_sequences, with the same costs, but leaves out substitutions that could
/// have been applied earlier in the sequence with the same result (search/commutation.h). Of the shortest sequences to
/// a graph it keeps the first, in the order of the matches of each graph. All matches of each graph are found anew.
/// Also returns the same candidate as enumerate_sequences, unless a limit ends the search. Fails only if `first` itself
/// has no cost.
Result<FoundCandidate> prune_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                    const SequenceOptions& options);

/// Dynamic programming with pruning: the same, but matches that a substitution cannot affect are reused after it
/// (search/matches.h).
Result<FoundCandidate> dpp_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                  const SequenceOptions& options);

}  // namespace isomer
