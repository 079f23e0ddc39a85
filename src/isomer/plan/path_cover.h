#pragma once
// Covers a graph with chains.

#include "isomer/plan/closure.h"

namespace isomer {

/// Returns chains that cover all tasks: each task of a chain comes after those before it in the closure, so that tasks
/// that may run at the same time are on different chains. As many edges of the reduction as possible are neighbors on a
/// chain, and then there are as few chains as possible.
std::vector<std::vector<TaskId>> path_cover(const Closure& closure, size_t task_limit);

}  // namespace isomer
