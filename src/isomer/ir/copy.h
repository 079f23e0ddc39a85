#pragma once
// Copies a graph into another one.

#include <functional>

#include "isomer/ir/builder.h"

namespace isomer {

/// Copies all nodes of `graph` except its inputs, which are replaced by the results of `input`. Returns the copies of
/// all values, by their ids in `graph`. Fails if `input` fails, or if a node is ill typed with its new operands.
Result<std::vector<ValueId>> copy_values(GraphBuilder& builder, const Graph& graph,
                                         const std::function<Result<ValueId>(ValueId)>& input);
/// Likewise, but returns only the copies of the outputs, in order.
Result<std::vector<ValueId>> copy_nodes(GraphBuilder& builder, const Graph& graph,
                                        const std::function<Result<ValueId>(ValueId)>& input);

}  // namespace isomer
