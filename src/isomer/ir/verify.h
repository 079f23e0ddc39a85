#pragma once
// The graph verifier: checks that a graph is well formed, independently of GraphBuilder.

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Fails unless the graph is well typed (inference gives the stored types), topologically ordered, without dead nodes,
/// and its indices are consistent.
Status verify_graph(const Graph& graph);

}  // namespace isomer
