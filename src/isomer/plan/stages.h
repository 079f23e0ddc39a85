#pragma once
// Divides a program into stages: kernels that run side by side on streams, and kernels that have all cores one after
// the other.

#include <span>
#include <vector>

#include "isomer/plan/task_graph.h"

namespace isomer {

/// The tasks from `begin` to before `end`. They start when all tasks of earlier stages have ended.
struct Stage {
  TaskId begin = 0;
  TaskId end = 0;
  bool side_by_side = false;  ///< on streams; else one after the other, each on all cores
  friend bool operator==(const Stage&, const Stage&) = default;
};

/// About how long it takes until several threads have begun together and ended, in microseconds.
inline constexpr double kForkUs = 2;

/// Returns the tasks [begin, end) as a graph of their own: numbered from 0, with the edges among them, each on one of
/// so many equal cores.
TaskGraph tasks_side_by_side(const TaskGraph& graph, TaskId begin, TaskId end, size_t cores);

/// Returns the stages that are predicted to take the least time together, by dynamic programming (IOS: Ding et al.
/// 2021, "IOS: Inter-Operator Scheduler for CNN Acceleration"). Here, stages are intervals of the order of the tasks'
/// numbers, in which each task comes after its predecessors, and no number is vacant.
///
/// The graph has the durations on a stream, and `alone` those on all cores, by task. Tasks side by side are predicted
/// by list scheduling in the order of their numbers, with `fork` more if they are on several streams. At most 256 are
/// in a stage. Of neighbors that run one after the other, all are one stage.
std::vector<Stage> choose_stages(const TaskGraph& graph, std::span<const Nanoseconds> alone, size_t streams,
                                 Nanoseconds fork);

}  // namespace isomer
