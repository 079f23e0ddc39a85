#pragma once
// The kernels of a candidate as tasks, to predict how long they take on several cores.

#include <span>

#include "isomer/cost/cost_model.h"
#include "isomer/plan/task_graph.h"

namespace isomer {

/// Returns kernels (CostModel::kernels) as tasks on one of so many equal cores each. A kernel comes after those that
/// make what it reads, and after the reorders of that.
TaskGraph kernel_tasks(const Graph& graph, std::span<const PlannedKernel> kernels, uint32_t cores);

}  // namespace isomer
