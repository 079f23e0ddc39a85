#pragma once
// A graph copied into another one.

#include <functional>

#include "isomer/ir/builder.h"

namespace isomer {

/// Copies all nodes of `graph` but its inputs, in whose place stands what `input` makes of each. The copies of the
/// outputs, in their order. Fails where `input` does, or where a node does not fit the types of its new operands.
Result<std::vector<ValueId>> copy_nodes(GraphBuilder& builder, const Graph& graph,
                                        const std::function<Result<ValueId>(ValueId)>& input);

}  // namespace isomer
