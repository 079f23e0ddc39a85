#pragma once
// OCGGS's sampling search (Fang et al., PVLDB 2020, algorithm 3).

#include "isomer/search/reached_graphs.h"

namespace isomer {

struct SampleOptions {
  /// Number of sequences that are kept after each step (the paper's Q). Half of them are chosen from those that end
  /// with a gain, and half from what lies behind substitutions that increase the cost.
  size_t queue = static_cast<size_t>(SearchOptions().queue);
  /// Maximum number of consecutive substitutions that may increase the cost.
  int64_t eta = SearchOptions().eta;
  /// Breaks ties between sequences of equal cost or potential.
  uint64_t seed = 0;
  SequenceOptions sequences = {};
};

/// Continues the sequences that were kept by all matches. Of the new sequences that do not end with a higher cost, the
/// cheapest are kept. One that ends with at most `eta` consecutive increases has a *potential*: the lowest cost after
/// substitutions that each depend on the one before, of which only the last decreases the cost. Those with the best
/// potential are followed by substitutions that depend on their last one, until the cost no longer increases; then the
/// cheapest are kept too. A substitution depends on another one if it matches or reads a value that this one made or
/// redirected.
///
/// Differs from the paper: each graph is reached by one sequence, the first that is found; and sequences with more than
/// `eta` consecutive increases are dropped, where the paper keeps them among those that are not explored further. Equal
/// graphs, rules, costs and options give equal results, unless the deadline ends the search. The result never costs
/// more than `first`. Fails only if `first` itself has no cost.
Result<FoundCandidate> sample_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                     const SampleOptions& options);

}  // namespace isomer
