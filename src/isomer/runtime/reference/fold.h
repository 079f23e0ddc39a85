#pragma once
// Folding of what depends on constants alone.

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

struct FoldOptions {
  /// Bytes by which all constants together may grow; results that replace larger constants are free.
  int64_t max_growth = int64_t{64} << 20;
  /// Nodes that would not be done by then stay.
  Deadline end = Deadline::after(std::numeric_limits<double>::infinity());
  /// The elements of a weight, by its value hash, where they are known already; else null.
  std::function<const Tensor*(uint64_t value_hash)> computed = [](uint64_t) { return nullptr; };
};

struct Folding {
  Graph graph;
  std::vector<std::pair<ValueId, Tensor>> constants;  ///< values of the graph before that are constants now
};
/// The graph with every weight-only node replaced by the constant that the reference kernels compute, node by node in
/// the precision of the graph, as far as the options let it. Nodes without a kernel stay. Names (origins) are kept.
Result<Folding> fold(const Graph& graph, const FoldOptions& options = {});

/// Its graph alone.
Result<Graph> fold_constants(const Graph& graph, int64_t max_growth = FoldOptions().max_growth);

}  // namespace isomer
