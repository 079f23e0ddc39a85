#pragma once
// Nodes in messages, tables and pictures.

#include <string>

#include "isomer/ir/graph.h"

namespace isomer {

/// The operator of a node for people: an opaque node goes by what it is in ONNX ("com.microsoft.FusedConv").
std::string op_label(const Node& node);

/// "node 'y' (Conv)", by the name of its first named result, else "node #3 (Conv)", by its position in the graph;
/// "input 'x'", "constant 'w'", "sparse initializer 'w'". Ready to print, whatever the names contain.
std::string node_label(const Graph& graph, NodeId id);

}  // namespace isomer
