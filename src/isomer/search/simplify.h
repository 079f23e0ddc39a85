#pragma once
// Substitutions that are applied without a measurement, because they only remove work.

#include "isomer/base/deadline.h"
#include "isomer/ops/work.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/report.h"

namespace isomer {

/// Returns whether `after` needs no more than `before` in every respect: fewer operators, no more of any kind, and no
/// more FLOPs or bytes (for these values of the symbols).
bool only_removes(const Graph& before, const Graph& after, const SymbolValues& symbols);

/// Applies every rule that only_removes accepts, until nothing changes or the deadline passes. Rules that merge
/// siblings (`term...` in the source) are skipped: they split fused activations, so only a measurement can decide.
/// Places where a rule would create a refused weight are skipped too.
SearchResult simplify(const Candidate& candidate, ExhaustiveRewriter& rules, const SymbolValues& symbols,
                      const Deadline& deadline = Deadline::never(), const RefusedWeights* refused = nullptr);

}  // namespace isomer
