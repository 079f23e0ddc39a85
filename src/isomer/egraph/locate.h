#pragma once
// Finds the values of a graph in an e-graph.

#include "isomer/egraph/term_graph.h"

namespace isomer {

/// The classes of the values of a graph, as of the e-graph's last rebuild().
class LocatedGraph {
 public:
  /// Keeps a reference to the graph.
  LocatedGraph(const Graph& graph, const TermGraph& terms);

  const Graph& graph() const { return graph_; }
  /// Returns the class of a value; kUnbound if the e-graph does not have it.
  EClassId class_of(ValueId value) const { return classes_[value]; }
  /// Returns the node that computes a value, as EGraph::canonical does. The value must have a class.
  const ENode& node_of(ValueId value) const { return nodes_[value]; }

 private:
  const Graph& graph_;
  std::vector<EClassId> classes_;  // by value
  std::vector<ENode> nodes_;       // by value
};

}  // namespace isomer
