#pragma once
// The kernels of a candidate as tasks, to predict how long they take on several cores.

#include <span>

#include "isomer/cost/cost_model.h"
#include "isomer/plan/neighbors.h"

namespace isomer {

struct KernelTasks {
  TaskGraph graph;
  std::vector<std::vector<TaskInput>> inputs = {};  ///< by task; empty if the bytes of values are not given
};

/// Returns kernels (CostModel::kernels) as tasks on one of so many equal cores each. A kernel comes after those that
/// make what it reads, and after the reorders of that. `value_bytes` is CostModel::value_bytes, or empty.
KernelTasks kernel_tasks(const Graph& graph, std::span<const PlannedKernel> kernels, uint32_t cores,
                         std::span<const double> value_bytes = {});

}  // namespace isomer
