#pragma once
// Finds what ONNX Runtime's fusions look for in a graph before nodes are grouped into kernels: the readers of values,
// and patterns of several nodes.

#include <vector>

#include "isomer/engine/ort/planner.h"

namespace isomer {

class OrtPatterns {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  using Kind = OrtPlanner::Kind;

  OrtPatterns(const Graph& graph, const std::unordered_map<const OpDef*, Kind>& kinds);

  const Graph& graph;

  Kind kind(NodeId id) const { return kinds_[id]; }
  bool runs(NodeId id) const { return graph.runs(graph.node(id)); }
  /// Returns whether exactly one node reads a value, and the graph does not return it.
  bool sole(ValueId value) const { return !returned_[value] && graph.consumers(value).size() == 1; }
  bool returned(ValueId value) const { return returned_[value]; }
  /// Returns the only node that reads a node's result, or kNone.
  NodeId reader(NodeId id) const;
  /// Returns whether a value is a constant of one element.
  bool scalar(ValueId value) const;
  /// Returns whether the readers of a node perform it: a transposition or a scale before products, or a pad before a
  /// convolution or pooling.
  bool absorbed(NodeId id) const { return absorbed_[id]; }
  /// Returns whether a product and the Add behind it become a Gemm.
  bool takes_bias(NodeId product) const;
  /// Returns the cluster (a Gelu or layer normalization of several nodes) that a node is part of, or kNone.
  uint32_t cluster(NodeId id) const { return cluster_[id]; }
  size_t num_clusters() const { return num_clusters_; }

 private:
  bool absorbable(NodeId id) const;
  bool absorbable_pad(NodeId id) const;
  void find_gelu(NodeId anchor);
  void find_layer_norm(NodeId root);
  void make_cluster(const std::vector<NodeId>& members);
  bool scales(NodeId id, ValueId& x) const;

  std::vector<Kind> kinds_;
  std::vector<bool> returned_;  // by value
  std::vector<bool> absorbed_;
  std::vector<uint32_t> cluster_;
  uint32_t num_clusters_ = 0;
};

}  // namespace isomer
