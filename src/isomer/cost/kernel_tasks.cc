#include "isomer/cost/kernel_tasks.h"

#include <algorithm>
#include <vector>

namespace isomer {

TaskGraph kernel_tasks(const Graph& graph, std::span<const PlannedKernel> kernels, uint32_t cores) {
  TaskGraph tasks;
  const ResourceSetId core = tasks.add_resources({{tasks.add_resource("cores", cores)}});
  std::vector<std::vector<TaskId>> ending(graph.nodes().size());  // kernels whose last node it is; reorders are last
  for (const bool reorder : {false, true})
    for (TaskId k = 0; k < kernels.size(); ++k)
      if (kernels[k].reorder == reorder) ending[kernels[k].nodes.back()].push_back(k);
  for (const PlannedKernel& kernel : kernels) tasks.add_task({.duration = task_duration(kernel.us), .resources = core});
  std::vector<std::vector<TaskId>> makers(graph.nodes().size());  // the last tasks that make the results of a node
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    std::vector<TaskId> before;
    const auto read = [&](NodeId reader, std::span<const NodeId> within) {
      for (const ValueId operand : graph.operands(graph.node(reader))) {
        if (operand == kNoValue || std::ranges::binary_search(within, graph.producer(operand))) continue;
        const auto& made_by = makers[graph.producer(operand)];
        before.insert(before.end(), made_by.begin(), made_by.end());
      }
    };
    const bool makes = !ending[id].empty() && !kernels[ending[id].front()].reorder;
    if (!makes) read(id, {});  // a view, or a concatenation whose operands are computed in place
    for (const TaskId k : ending[id]) {
      if (!kernels[k].reorder)
        for (const NodeId node : kernels[k].nodes) read(node, kernels[k].nodes);
      for (const TaskId earlier : before) tasks.add_edge(earlier, k);
      before = {k};
    }
    makers[id] = std::move(before);
  }
  return tasks;
}

}  // namespace isomer
