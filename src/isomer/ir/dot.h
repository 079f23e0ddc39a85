#pragma once
// Graphs as pictures: text for Graphviz (`dot -Tsvg`).

#include <string>

#include "isomer/ir/graph.h"

namespace isomer {

/// A box a node, labelled with its operator and the shape of its results; an ellipse an input or output. What depends
/// on constants alone is left out, unless it is an output.
std::string dot_graph(const Graph& graph);

/// The operator of a node for people: an opaque node goes by what it is in ONNX ("com.microsoft.FusedConv").
std::string op_label(const Node& node);

}  // namespace isomer
