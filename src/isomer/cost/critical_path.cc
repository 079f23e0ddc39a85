#include "isomer/cost/critical_path.h"

#include <algorithm>
#include <vector>

namespace isomer {

double critical_path_us(const Graph& graph, const KernelPlan& plan, std::span<const double> us) {
  std::vector<double> reorder(graph.num_values(), 0);
  for (size_t i = 0; i < plan.reorders.size(); ++i) reorder[plan.reorders[i].value] += us[plan.size() + i];
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> kernel_of(graph.nodes().size(), kNone);  // of which a node is the last one
  for (size_t i = 0; i < plan.size(); ++i) kernel_of[plan.kernel(i).back()] = i;
  std::vector<double> ends(graph.num_values(), 0);
  double longest = 0;
  const auto wait = [&](const Node& node, std::span<const NodeId> within, double& start) {
    for (const ValueId operand : graph.operands(node))
      if (operand != kNoValue && !std::ranges::binary_search(within, graph.producer(operand)))
        start = std::max(start, ends[operand]);
  };
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    double end = 0;
    if (const size_t kernel = kernel_of[id]; kernel != kNone) {
      const auto nodes = plan.kernel(kernel);
      for (const NodeId part : nodes) wait(graph.node(part), nodes, end);
      end += us[kernel];
    } else {
      wait(node, {}, end);  // a view, or a concatenation whose operands are computed in place
    }
    for (uint32_t r = 0; r < node.num_results; ++r) {
      ends[node.result(r)] = end + reorder[node.result(r)];
      longest = std::max(longest, ends[node.result(r)]);
    }
  }
  return longest;
}

}  // namespace isomer
