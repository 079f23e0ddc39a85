#pragma once
// Substitutions that are taken without asking, because they only remove work.

#include <span>

#include "isomer/base/deadline.h"
#include "isomer/rules/rule.h"
#include "isomer/runtime/work.h"
#include "isomer/search/report.h"

namespace isomer {

/// Whether `after` needs less than `before` in every respect: fewer operators, of no kind more, and no more FLOPs or
/// bytes (for these values of the symbols).
bool only_removes(const Graph& before, const Graph& after, const SymbolValues& symbols);

/// Applies every rule whose effect only_removes, to the fixpoint or until the deadline. Rules that merge siblings
/// (`term...` in the source) are left out: they take fused activations apart, and only a measurement can tell. So are
/// places where a rule would make a refused weight.
SearchResult simplify(const Graph& graph, std::span<const Rule> rules, const SymbolValues& symbols,
                      const Deadline& deadline = Deadline::never(), const RefusedWeights* refused = nullptr);

}  // namespace isomer
