#pragma once
// Labels of nodes in messages, tables and pictures.

#include <string>

#include "isomer/ir/graph.h"

namespace isomer {

/// The operator of a node. For an opaque node, this is its operator in ONNX ("com.microsoft.FusedConv"), or "sparse
/// initializer" or "initializer" (opaque.h).
std::string op_label(const Node& node);

/// "node 'y' (Conv)" with the name of its first named result, or "node #3 (Conv)" with its position in the graph;
/// "input 'x'", "constant 'w'", "sparse initializer 'w'". Safe to print, whatever the names contain.
std::string node_label(const Graph& graph, NodeId id);

}  // namespace isomer
