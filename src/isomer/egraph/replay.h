#pragma once
// Checks chains step by step, with the matcher and rewriter of graphs instead of the e-graph's.

#include "isomer/egraph/derive.h"

namespace isomer {

/// Returns an Error that names the first invalid step of a derivation's chain: the rule, applied to the graph of its
/// source, does not produce its target's graph, or a term differs from the previous one in more than that.
Status replay(const Derivation& derivation);

}  // namespace isomer
