#pragma once
// Whether two graphs are the same, looked at node by node.

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer::replay {

/// Every output is made by the same operators with the same attributes from the same inputs and bit by bit the same
/// constants; the inputs have equal types. An Error names the first difference. Free is what import and export may
/// change: the order of nodes, the numbers of opaque nodes and the names in them (`opaque_content` says what is left of
/// one), the order of the operands of a commutative operator, whether an axis counts from the front or the back, and
/// Identity nodes of `actual`, which export writes where one value has several names.
Status same_graph(const Graph& expected, const Graph& actual, std::string (*opaque_content)(const Node&));

}  // namespace isomer::replay
