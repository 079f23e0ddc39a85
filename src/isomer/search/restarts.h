#pragma once
// Backtracking that starts again without rules that stand in the way of others.

#include "isomer/search/backtrack.h"

namespace isomer {

/// Searches, and again without each of the rules that led to the best graph, for as long as that finds a better one.
/// What pays most at once need not pay most in the end (siblings merged by fives leave no pairs to join), and a rise in
/// cost within alpha may not lead back. The first search may cost half of the candidates. The report adds up all
/// searches; its steps are those of the best. Fails as `backtrack` does.
Result<BacktrackResult> backtrack_with_restarts(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost,
                                                const BacktrackOptions& options);

}  // namespace isomer
