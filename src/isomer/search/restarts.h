#pragma once
// Backtracking that restarts without rules that prevent better results.

#include "isomer/search/backtrack.h"

namespace isomer {

/// Runs a search, then again without each of the rules that led to the best graph, as long as that finds a better one.
/// The step with the largest immediate gain need not be the best in the end (siblings merged by fives leave no pairs to
/// join), and a cost increase within alpha may not lead back. The first search may use half of the candidates. The
/// report adds up all searches; its steps are those of the best. Fails as `backtrack` does.
Result<FoundCandidate> backtrack_with_restarts(const Candidate& first, std::span<const Rule> rules,
                                               const CandidateCost& cost, const BacktrackOptions& options);

}  // namespace isomer
