#pragma once
// Folding of what depends on constants alone.

#include <utility>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

struct Folding {
  Graph graph;
  std::vector<std::pair<ValueId, Tensor>> constants;  ///< values of the graph before that are constants now
};
/// The graph with every weight-only node replaced by the constant that the reference kernels compute, where the graph's
/// constants do not grow by more than `max_growth` bytes in all by it (results that replace larger constants are free).
/// Nodes without a kernel stay. Names (origins) are kept.
Result<Folding> fold(const Graph& graph, int64_t max_growth = int64_t{64} << 20);

/// Its graph alone.
Result<Graph> fold_constants(const Graph& graph, int64_t max_growth = int64_t{64} << 20);

}  // namespace isomer
