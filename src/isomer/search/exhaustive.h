#pragma once
// Applies a rule wherever it matches.

#include "isomer/base/deadline.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/report.h"

namespace isomer {

/// A candidate after a rule was applied at all places, repeatedly until nothing new appears (or until `rounds`, the
/// deadline, or a limit on growth is reached). Places where the rule would create a refused weight are skipped.
struct ExhaustiveRewrite : Candidate {
  SearchStep step = {};
  int64_t matches = 0;
  bool changed = false;
};
ExhaustiveRewrite apply_exhaustively(const Candidate& candidate, const Rule& rule,
                                     const Deadline& deadline = Deadline::never(),
                                     const RefusedWeights* refused = nullptr, int rounds = 30);

/// Returns the number of operators that depend on run-time inputs (not counting constants and inputs).
size_t run_time_ops(const Graph& graph);

}  // namespace isomer
