#pragma once
// Constant folding for tests that need only the graph.

#include "isomer/eval/fold.h"

namespace isomer {

/// Returns only the graph of fold().
inline Result<Graph> fold_constants(const Graph& graph, int64_t max_growth = FoldOptions().max_growth) {
  ISOMER_TRY(Folding out, fold(graph, {.max_growth = max_growth}));
  return std::move(out.graph);
}

}  // namespace isomer
