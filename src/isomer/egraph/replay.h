#pragma once
// Chains checked step by step, with the matcher and rewriter of graphs instead of the e-graph's.

#include "isomer/egraph/derive.h"

namespace isomer {

/// An Error says which step of a derivation's chain does not stand: where the rule, applied to the graph of its source,
/// does not give that of its target, or where a term differs from the one before in more than that.
Status replay(const Derivation& derivation);

}  // namespace isomer
