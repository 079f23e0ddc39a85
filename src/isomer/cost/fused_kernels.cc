#include "isomer/cost/fused_kernels.h"

#include <algorithm>

#include "isomer/cost/node_work.h"

namespace isomer {
namespace {

constexpr NodeId kNoNode = KernelEnd::kNoNode;

bool is_convolution(const OpDef& op) {
  return op.role(1) == OperandRole::Filters || op.role(1) == OperandRole::TransposedFilters;
}

/// The nodes of a graph, and its values, as Fusion needs them.
class GraphNodes {
 public:
  explicit GraphNodes(const Graph& graph) : graph_(graph) {}

  bool makes_kernel(NodeId id) const { return graph_.runs(graph_.node(id)) && !is_view(graph_.node(id)); }
  const Node& node(NodeId id) const { return graph_.node(id); }
  std::span<const ValueId> operands(NodeId id) const { return graph_.operands(graph_.node(id)); }
  ValueId result(NodeId id) const { return graph_.node(id).result(); }
  bool is_constant_derived(ValueId value) const { return graph_.is_constant_derived(value); }
  NodeId producer(ValueId value) const { return graph_.producer(value); }
  size_t readers(ValueId value) const { return graph_.consumers(value).size(); }
  bool is_output(ValueId value) const { return graph_.is_output(value); }
  const TensorType& type(ValueId value) const { return graph_.type(value); }
  uint64_t hash(ValueId value) const { return graph_.value_hash(value); }

 private:
  const Graph& graph_;
};

/// The same of nodes that run.
class FlatNodes {
 public:
  explicit FlatNodes(const RunNodes& nodes) : nodes_(nodes) {}

  bool makes_kernel(NodeId id) const { return !is_view(node(id)); }
  const Node& node(NodeId id) const { return *nodes_.nodes[id].node; }
  std::span<const ValueId> operands(NodeId id) const { return nodes_.operands_of(nodes_.nodes[id]); }
  ValueId result(NodeId id) const { return nodes_.nodes[id].first_result; }
  bool is_constant_derived(ValueId value) const { return nodes_.values[value].weight; }
  NodeId producer(ValueId value) const { return nodes_.values[value].producer; }
  size_t readers(ValueId value) const { return nodes_.values[value].readers; }
  bool is_output(ValueId value) const { return nodes_.values[value].output; }
  const TensorType& type(ValueId value) const { return *nodes_.values[value].type; }
  uint64_t hash(ValueId value) const { return nodes_.values[value].hash; }

 private:
  const RunNodes& nodes_;
};

/// Groups GraphNodes or FlatNodes.
template <class Nodes>
class Fusion {
 public:
  /// Keeps references. `ends` becomes what is known of each node.
  Fusion(const Nodes& nodes, std::span<const double> flops, std::vector<KernelEnd>& ends)
      : nodes_(nodes), flops_(flops), ends_(ends) {
    ends_.assign(flops.size(), {});
    for (NodeId id = 0; id < ends_.size(); ++id)
      if (nodes_.makes_kernel(id)) place(id);
  }

  /// Appends the nodes of the kernels, one kernel after the other, and where each ends.
  template <class Numbers>
  void collect(Numbers& nodes, std::vector<uint32_t>& ends) const {
    for (NodeId id = 0; id < ends_.size(); ++id) {
      if (!ends_[id].last) continue;
      const auto begin = static_cast<std::ptrdiff_t>(nodes.size());
      for (NodeId at = id; at != kNoNode; at = ends_[at].before) nodes.push_back(at);
      std::reverse(nodes.begin() + begin, nodes.end());
      ends.push_back(static_cast<uint32_t>(nodes.size()));
    }
  }

 private:
  void place(NodeId id) {
    const Node& node = nodes_.node(id);
    const bool elementwise = node.op->has(Trait::Elementwise);
    KernelEnd& end = ends_[id];
    end.last = true;
    end.open = node.num_results == 1 && (elementwise || node.op->has(Trait::Product) || is_convolution(*node.op));
    end.flops = flops_[id];
    if (!end.open || !elementwise) return;
    end.reads_other = reads_other(id);
    const ValueId made = joined(id, end.reads_other);
    if (made == kNoValue) return;
    end.before = nodes_.producer(made);
    KernelEnd& before = ends_[end.before];
    before.last = false;
    end.flops += before.flops;
    end.reads_other |= before.reads_other;
  }

  bool at_run_time(ValueId value) const { return value != kNoValue && !nodes_.is_constant_derived(value); }

  /// Returns whether a node reads several values that are not weights.
  bool reads_other(NodeId id) const {
    ValueId first = kNoValue;
    for (const ValueId operand : nodes_.operands(id)) {
      if (!at_run_time(operand) || operand == first) continue;
      if (first != kNoValue) return true;
      first = operand;
    }
    return false;
  }

  /// Returns the operand whose kernel a node joins, or kNoValue.
  ValueId joined(NodeId id, bool reads_other) const {
    ValueId best = kNoValue;
    for (const ValueId operand : nodes_.operands(id)) {
      if (!at_run_time(operand) || operand == best || !passes_on(id, operand)) continue;
      if (reads_other && (ends_[nodes_.producer(operand)].reads_other || !one_other(id, operand))) continue;
      if (best == kNoValue || more_work(operand, best)) best = operand;
    }
    return best;
  }

  /// Returns whether the kernel that makes an operand can compute the node too.
  bool passes_on(NodeId id, ValueId operand) const {
    const NodeId producer = nodes_.producer(operand);
    if (producer == kNoNode) return false;  // an input
    const KernelEnd& maker = ends_[producer];
    const TensorType& type = nodes_.type(operand);
    return maker.last && maker.open && nodes_.readers(operand) == 1 && type.shape &&
           type == nodes_.type(nodes_.result(id)) && !nodes_.is_output(operand);
  }

  /// Returns whether a node reads at most one value in addition to an operand and weights, and of the result's shape.
  bool one_other(NodeId id, ValueId operand) const {
    ValueId one = kNoValue;
    for (const ValueId other : nodes_.operands(id)) {
      if (!at_run_time(other) || other == operand || other == one) continue;
      if (one != kNoValue || nodes_.type(other).shape != nodes_.type(operand).shape) return false;
      one = other;
    }
    return true;
  }

  bool more_work(ValueId a, ValueId b) const {
    const double flops_a = ends_[nodes_.producer(a)].flops, flops_b = ends_[nodes_.producer(b)].flops;
    return flops_a != flops_b ? flops_a > flops_b : nodes_.hash(a) < nodes_.hash(b);
  }

  const Nodes& nodes_;
  const std::span<const double> flops_;
  std::vector<KernelEnd>& ends_;  // by node
};

}  // namespace

KernelPlan fused_kernels(const Graph& graph, std::span<const double> flops) {
  KernelPlan plan;
  plan.nodes.reserve(flops.size());
  plan.begins = {0};
  plan.begins.reserve(flops.size() + 1);
  const GraphNodes nodes(graph);
  std::vector<KernelEnd> ends;
  Fusion(nodes, flops, ends).collect(plan.nodes, plan.begins);
  plan.layouts.assign(graph.num_values(), Layout::Plain);
  plan.intakes.assign(graph.nodes().size(), Intake::Own);
  return plan;
}

void RunNodeFusion::run(const RunNodes& nodes, std::span<const double> flops) {
  nodes_.clear();
  begins_.assign(1, 0);
  const FlatNodes flat(nodes);
  Fusion(flat, flops, ends_).collect(nodes_, begins_);
}

}  // namespace isomer
