#include "isomer/cost/kernel_tasks.h"

#include <algorithm>
#include <vector>

namespace isomer {

KernelTasks kernel_tasks(const Graph& graph, std::span<const PlannedKernel> kernels, uint32_t cores,
                         std::span<const double> value_bytes) {
  KernelTasks tasks;
  const ResourceSetId core = tasks.graph.add_resources({{tasks.graph.add_resource("cores", cores)}});
  std::vector<std::vector<TaskId>> ending(graph.nodes().size());  // kernels whose last node it is; reorders are last
  for (const bool reorder : {false, true})
    for (TaskId k = 0; k < kernels.size(); ++k)
      if (kernels[k].reorder == reorder) ending[kernels[k].nodes.back()].push_back(k);
  for (const PlannedKernel& kernel : kernels)
    tasks.graph.add_task({.duration = task_duration(kernel.us), .resources = core});
  if (!value_bytes.empty()) tasks.inputs.resize(kernels.size());
  std::vector<std::vector<TaskId>> makers(graph.nodes().size());  // the last tasks that make the results of a node
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    std::vector<TaskInput> before;
    const auto read = [&](ValueId value) {
      const auto& made_by = makers[graph.producer(value)];
      const double bytes = value_bytes.empty() || made_by.empty() ? 0 : value_bytes[value];
      for (const TaskId maker : made_by) before.push_back({maker, bytes / static_cast<double>(made_by.size())});
    };
    const auto read_operands = [&](NodeId reader, std::span<const NodeId> within) {
      for (const ValueId operand : graph.operands(graph.node(reader)))
        if (operand != kNoValue && !std::ranges::binary_search(within, graph.producer(operand))) read(operand);
    };
    const bool makes = !ending[id].empty() && !kernels[ending[id].front()].reorder;
    if (!makes) read_operands(id, {});  // a view, or a concatenation whose operands are computed in place
    for (const TaskId k : ending[id]) {
      if (!kernels[k].reorder)
        for (const NodeId node : kernels[k].nodes) read_operands(node, kernels[k].nodes);
      for (const TaskInput& input : before) tasks.graph.add_edge(input.from, k);
      if (!value_bytes.empty()) tasks.inputs[k] = std::move(before);
      makers[id] = {k};
      before.clear();
      if (graph.node(id).num_results > 0) read(graph.node(id).result());
    }
    if (ending[id].empty())
      for (const TaskInput& input : before) makers[id].push_back(input.from);
  }
  return tasks;
}

}  // namespace isomer
