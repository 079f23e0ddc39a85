#pragma once
// Assigns tasks to streams (Nimble: Kwon et al. 2020, "Nimble: Lightweight and Parallel GPU Task Scheduling for Deep
// Learning", section 4.2; AutoGraph, section "On-board Verification").

#include "isomer/plan/stream_plan.h"

namespace isomer {

/// Returns the fewest synchronizations with which tasks on these streams wait for their predecessors and for nothing
/// else: those that the other edges and the order of the streams do not imply. An Error unless each task of the graph
/// is on exactly one stream, and if the order of a stream contradicts the graph.
Result<std::vector<Synchronization>> fewest_synchronizations(const TaskGraph& graph,
                                                             const std::vector<std::vector<TaskId>>& streams);

/// Returns a plan for at most `max_streams` streams. If they are enough, tasks that may run at the same time are on
/// different streams; there are as few synchronizations as that allows, and then as few streams. Otherwise, tasks go to
/// streams as they would start first, those with the longest path behind them first. An Error if the graph has a cycle,
/// or if `max_streams` is 0.
Result<StreamPlan> assign_streams(const TaskGraph& graph, size_t max_streams);

}  // namespace isomer
