#pragma once
// The graph verifier: checks the invariants of DESIGN.md section 3 with code of its own.

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Well typed (inference gives the stored types), topologically ordered, no dead nodes, indices consistent.
Status verify_graph(const Graph& graph);

}  // namespace isomer
