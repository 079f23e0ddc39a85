#pragma once
// Compares two graphs node by node.

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer::replay {

/// Checks that every output is computed by the same operators with the same attributes from the same inputs and bitwise
/// equal constants, and that the inputs have equal types. The Error names the first difference. Only what import and
/// export change may differ: the order of nodes, the numbers of opaque nodes and the names in them (`opaque_content`
/// returns the rest of such a node), the order of the operands of a commutative operator, whether an axis is counted
/// from the front or the back, and Identity nodes of `actual`, which export writes if one value has several names.
Status same_graph(const Graph& expected, const Graph& actual, std::string (*opaque_content)(const Node&));

}  // namespace isomer::replay
