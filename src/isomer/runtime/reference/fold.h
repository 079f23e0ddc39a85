#pragma once
// Folding of what depends on constants alone.

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// The graph with every weight-only node replaced by the constant that the reference kernels compute, where the graph's
/// constants do not grow by more than `max_growth` bytes in all by it (results that replace larger constants are free).
/// Nodes without a kernel stay. Names (origins) are kept.
Result<Graph> fold_constants(const Graph& graph, int64_t max_growth = int64_t{64} << 20);

}  // namespace isomer
