#include "isomer/engine/openvino/planner.h"

#include <algorithm>

namespace isomer {
namespace {

constexpr uint32_t kNoFusion = UINT32_MAX;

/// Goes through the nodes from the last to the first. A kernel begins with a node whose results are read outside it;
/// nodes that only the kernel reads join it.
class FusedKernels {
 public:
  FusedKernels(const Graph& graph, const Fusions& fusions)
      : graph_(graph), fusion_of_(graph.nodes().size(), kNoFusion), kernel_of_(graph.nodes().size(), kNoFusion) {
    for (uint32_t fusion = 0; fusion < fusions.size(); ++fusion)
      for (const NodeId id : fusions[fusion]) fusion_of_[id] = fusion;
  }

  KernelPlan run() {
    for (auto id = static_cast<NodeId>(graph_.nodes().size()); id-- > 0;) {
      if (!takes_time(id)) continue;
      const uint32_t reader = only_reading_kernel(id);
      const bool joins = reader != kNoFusion && (fusion_of_[id] == kNoFusion || fusion_of_[id] == fusions_[reader]);
      kernel_of_[id] = joins ? reader : static_cast<uint32_t>(fusions_.size());
      if (!joins) fusions_.push_back(fusion_of_[id]);
    }
    return collect();
  }

 private:
  bool takes_time(NodeId id) const {
    const Node& node = graph_.node(id);
    return !node.is_input() && node.num_results > 0 && !graph_.is_constant_derived(node.result());
  }

  /// Returns the only kernel that reads the results of a node. An opaque node is a kernel of its own.
  uint32_t only_reading_kernel(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.is_opaque()) return kNoFusion;
    uint32_t only = kNoFusion;
    for (uint32_t i = 0; i < node.num_results; ++i) {
      if (graph_.is_output(node.result(i))) return kNoFusion;
      for (const NodeId reader : graph_.consumers(node.result(i))) {
        const uint32_t kernel = kernel_of_[reader];
        if (graph_.node(reader).is_opaque() || kernel == kNoFusion || (only != kNoFusion && only != kernel))
          return kNoFusion;
        only = kernel;
      }
    }
    return only;
  }

  /// Returns the kernels in the order of their last nodes.
  KernelPlan collect() const {
    std::vector<std::vector<NodeId>> kernels(fusions_.size());
    for (NodeId id = 0; id < kernel_of_.size(); ++id)
      if (kernel_of_[id] != kNoFusion) kernels[fusions_.size() - 1 - kernel_of_[id]].push_back(id);
    KernelPlan plan;
    plan.layouts.assign(graph_.num_values(), Layout::Plain);
    plan.intakes.assign(graph_.nodes().size(), Intake::Own);
    plan.begins.push_back(0);
    for (const auto& kernel : kernels) {
      plan.nodes.insert(plan.nodes.end(), kernel.begin(), kernel.end());
      plan.begins.push_back(static_cast<uint32_t>(plan.nodes.size()));
    }
    return plan;
  }

  const Graph& graph_;
  std::vector<uint32_t> fusion_of_;  // by node
  std::vector<uint32_t> kernel_of_;  // by node
  std::vector<uint32_t> fusions_;    // by kernel; the last kernel of the graph comes first
};

/// Makes each node a kernel.
Fusions no_fusions(const Graph& graph) {
  Fusions each(graph.nodes().size());
  for (NodeId id = 0; id < each.size(); ++id) each[id] = {id};
  return each;
}

}  // namespace

KernelPlan plan_of_fusions(const Graph& graph, const Fusions& fusions) { return FusedKernels(graph, fusions).run(); }

Result<KernelPlan> OpenvinoPlanner::plan(const Graph& graph, const Boundary& /*boundary*/,
                                         const Decisions& /*decisions*/, const Deadline& /*deadline*/) const {
  const std::lock_guard<std::mutex> lock(lock_);
  auto known = known_.find(graph.hash());
  if (known == known_.end()) {
    const auto fusions = fusions_(graph);
    if (!fusions) return plan_of_fusions(graph, no_fusions(graph));
    Known numbers;
    for (size_t fusion = 0; fusion < fusions->size(); ++fusion)
      for (const NodeId id : (*fusions)[fusion]) numbers[graph.value_hash(graph.node(id).result())] = fusion;
    known = known_.emplace(graph.hash(), std::move(numbers)).first;
  }
  Fusions fusions;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (graph.node(id).num_results == 0) continue;
    const auto number = known->second.find(graph.value_hash(graph.node(id).result()));
    if (number == known->second.end()) continue;
    fusions.resize(std::max(fusions.size(), number->second + 1));
    fusions[number->second].push_back(id);
  }
  return plan_of_fusions(graph, fusions);
}

}  // namespace isomer
