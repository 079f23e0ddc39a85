#pragma once
// Graphs as pictures: text for Graphviz (`dot -Tsvg`).

#include <string>

#include "isomer/ir/graph.h"

namespace isomer {

/// A box a node, labelled with its operator and the shape of its results; an ellipse an input or output. What depends
/// on constants alone is left out, unless it is an output.
std::string dot_graph(const Graph& graph);

/// A node's line in such a picture, by its id: an ellipse for an input; its label has more lines where `more` is not
/// empty, and `style` adds to the attributes of Graphviz ("fillcolor=...").
std::string dot_node(const Graph& graph, NodeId node, const std::string& id, const std::string& more = "",
                     const std::string& style = "");
/// The line of the i-th output, an ellipse.
std::string dot_output(const Graph& graph, size_t i, const std::string& id);
/// A string of Graphviz; line breaks become \n.
std::string dot_string(const std::string& text);

}  // namespace isomer
