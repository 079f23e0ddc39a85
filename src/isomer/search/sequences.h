#pragma once
// Enumerates all sequences of substitutions up to a length: the baseline of OCGGS.

#include "isomer/search/reached_graphs.h"

namespace isomer {

/// Applies every match to every graph that at most `max_length` substitutions lead to, shortest sequences first. A
/// graph that was reached before is not expanded again, because its shortest sequence came first. All matches of each
/// graph are found anew, and no order between substitutions is used. So the result, and the set of graphs that are
/// reached, are what other searches are compared with. Fails only if `first` itself has no cost.
Result<FoundCandidate> enumerate_sequences(const Candidate& first, std::span<const Rule> rules,
                                           const CandidateCost& cost, const SequenceOptions& options);

}  // namespace isomer
