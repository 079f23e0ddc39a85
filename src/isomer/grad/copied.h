#pragma once
// Copies of graphs to which something is added.

#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/builder.h"

namespace isomer {

/// Copies a graph with its inputs and the names of its values. Returns the copies by their ids in `graph`.
Result<std::vector<ValueId>> copy_named(GraphBuilder& builder, const Graph& graph);

}  // namespace isomer
