#include "isomer/cost/fused_kernels.h"

#include <algorithm>
#include <limits>

#include "isomer/cost/node_work.h"

namespace isomer {
namespace {

constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

bool is_convolution(const OpDef& op) {
  return op.role(1) == OperandRole::Filters || op.role(1) == OperandRole::TransposedFilters;
}

class Fusion {
 public:
  Fusion(const Graph& graph, std::span<const double> flops) : graph_(graph), flops_(flops), ends_(flops.size()) {}

  KernelPlan run() {
    for (NodeId id = 0; id < ends_.size(); ++id)
      if (graph_.runs(graph_.node(id)) && !is_view(graph_.node(id))) place(id);
    return collect();
  }

 private:
  /// The kernel that ends with a node, unless another node joins it.
  struct End {
    bool last = false;         ///< no other node has joined it; false for nodes in no kernel
    bool open = false;         ///< elementwise operators can join it
    bool reads_other = false;  ///< an elementwise operator in it reads a second value
    NodeId before = kNoNode;   ///< the node before this one in the kernel
    double flops = 0;
  };

  void place(NodeId id) {
    const Node& node = graph_.node(id);
    const bool elementwise = node.op->has(Trait::Elementwise);
    End& end = ends_[id];
    end.last = true;
    end.open = node.num_results == 1 && (elementwise || node.op->has(Trait::Product) || is_convolution(*node.op));
    end.flops = flops_[id];
    if (!end.open || !elementwise) return;
    end.reads_other = reads_other(node);
    const ValueId made = joined(node, end.reads_other);
    if (made == kNoValue) return;
    end.before = graph_.producer(made);
    End& before = ends_[end.before];
    before.last = false;
    end.flops += before.flops;
    end.reads_other |= before.reads_other;
  }

  bool at_run_time(ValueId value) const { return value != kNoValue && !graph_.is_weight(value); }

  /// Returns whether a node reads several values that are not weights.
  bool reads_other(const Node& node) const {
    ValueId first = kNoValue;
    for (const ValueId operand : graph_.operands(node)) {
      if (!at_run_time(operand) || operand == first) continue;
      if (first != kNoValue) return true;
      first = operand;
    }
    return false;
  }

  /// Returns the operand whose kernel a node joins, or kNoValue.
  ValueId joined(const Node& node, bool reads_other) const {
    ValueId best = kNoValue;
    for (const ValueId operand : graph_.operands(node)) {
      if (!at_run_time(operand) || operand == best || !passes_on(node, operand)) continue;
      if (reads_other && (ends_[graph_.producer(operand)].reads_other || !one_other(node, operand))) continue;
      if (best == kNoValue || more_work(operand, best)) best = operand;
    }
    return best;
  }

  /// Returns whether the kernel that makes an operand can compute the node too.
  bool passes_on(const Node& node, ValueId operand) const {
    const End& maker = ends_[graph_.producer(operand)];
    const TensorType& type = graph_.type(operand);
    return maker.last && maker.open && graph_.consumers(operand).size() == 1 && type.shape &&
           type == graph_.type(node.result()) && !graph_.is_output(operand);
  }

  /// Returns whether a node reads at most one value in addition to an operand and weights, and of the result's shape.
  bool one_other(const Node& node, ValueId operand) const {
    ValueId one = kNoValue;
    for (const ValueId other : graph_.operands(node)) {
      if (!at_run_time(other) || other == operand || other == one) continue;
      if (one != kNoValue || graph_.type(other).shape != graph_.type(operand).shape) return false;
      one = other;
    }
    return true;
  }

  bool more_work(ValueId a, ValueId b) const {
    const double flops_a = ends_[graph_.producer(a)].flops, flops_b = ends_[graph_.producer(b)].flops;
    return flops_a != flops_b ? flops_a > flops_b : graph_.value_hash(a) < graph_.value_hash(b);
  }

  KernelPlan collect() const {
    KernelPlan plan;
    plan.nodes.reserve(ends_.size());
    plan.begins = {0};
    plan.begins.reserve(ends_.size() + 1);
    for (NodeId id = 0; id < ends_.size(); ++id) {
      if (!ends_[id].last) continue;
      for (NodeId at = id; at != kNoNode; at = ends_[at].before) plan.nodes.push_back(at);
      std::reverse(plan.nodes.begin() + plan.begins.back(), plan.nodes.end());
      plan.begins.push_back(static_cast<uint32_t>(plan.nodes.size()));
    }
    plan.layouts.assign(graph_.num_values(), Layout::Plain);
    plan.intakes.assign(graph_.nodes().size(), Intake::Own);
    return plan;
  }

  const Graph& graph_;
  const std::span<const double> flops_;
  std::vector<End> ends_;  // by node
};

}  // namespace

KernelPlan fused_kernels(const Graph& graph, std::span<const double> flops) { return Fusion(graph, flops).run(); }

}  // namespace isomer
