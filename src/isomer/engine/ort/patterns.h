#pragma once
// What ONNX Runtime's fusions look at in a graph, before nodes are put into kernels: who reads what, and patterns of
// several nodes.

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
  /// Whether exactly one node reads a value, and the graph does not return it.
  bool sole(ValueId value) const { return !returned_[value] && graph.consumers(value).size() == 1; }
  bool returned(ValueId value) const { return returned_[value]; }
  /// The one node that reads a node's result, or kNone.
  NodeId reader(NodeId id) const;
  /// Whether a value is a constant of one element.
  bool scalar(ValueId value) const;
  /// Whether the readers of a node perform it while they read: a transposition or a scale before products, a pad before
  /// a convolution or pooling.
  bool absorbed(NodeId id) const { return absorbed_[id]; }
  /// Whether a product and the Add behind it become a Gemm.
  bool takes_bias(NodeId product) const;
  /// Which cluster (a Gelu, a layer normalization written out) a node is part of, or kNone.
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
