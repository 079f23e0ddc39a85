#pragma once
// Graphs as pictures: text for Graphviz (`dot -Tsvg`).

#include <string>

#include "isomer/ir/graph.h"

namespace isomer {

/// A graph with one box per node, labeled with its operator and the shapes of its results, and one ellipse per input
/// and output. Nodes that depend only on constants are omitted, unless they are outputs.
std::string dot_graph(const Graph& graph);

/// The line for a node with this id: an ellipse for an input, else a box. `more` adds lines to the label if it is not
/// empty, and `style` adds Graphviz attributes ("fillcolor=...").
std::string dot_node(const Graph& graph, NodeId node, const std::string& id, const std::string& more = "",
                     const std::string& style = "");
/// The line for the i-th output, an ellipse.
std::string dot_output(const Graph& graph, size_t i, const std::string& id);
/// The text as a Graphviz string; line breaks become \n.
std::string dot_string(const std::string& text);

}  // namespace isomer
