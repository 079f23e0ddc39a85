#pragma once
// Divides a program into stages: kernels that run side by side on streams, kernels that have all cores one after the
// other, and kernels that are divided into parts.

#include <span>
#include <vector>

#include "isomer/plan/neighbors.h"

namespace isomer {

/// How the tasks of a stage run.
enum class StageKind : uint8_t {
  AllCores,    ///< one after the other, each on all cores
  SideBySide,  ///< on streams
  Divided,     ///< each stream runs a part of every task, one after the other
};

/// The tasks from `begin` to before `end`. They start when all tasks of earlier stages have ended.
struct Stage {
  TaskId begin = 0;
  TaskId end = 0;
  StageKind kind = StageKind::AllCores;
  friend bool operator==(const Stage&, const Stage&) = default;
};

/// About how long it takes until several threads have begun together and ended, in microseconds.
inline constexpr double kForkUs = 2;

/// Returns the tasks [begin, end) as a graph of their own: numbered from 0, with the edges among them, each on one of
/// so many equal cores.
TaskGraph tasks_side_by_side(const TaskGraph& graph, TaskId begin, TaskId end, size_t cores);

/// Times of tasks in stages, by task.
struct StageTimes {
  std::span<const Nanoseconds> alone;       ///< on all cores
  std::span<const Nanoseconds> parts = {};  ///< of the longest part; 0: it cannot be divided. Empty: none can
};

/// Returns the stages that are predicted to take the least time together, by dynamic programming (IOS: Ding et al.
/// 2021, "IOS: Inter-Operator Scheduler for CNN Acceleration"). Here, stages are intervals of the order of the tasks'
/// numbers, in which each task comes after its predecessors, and no number is vacant.
///
/// The graph has the durations on a stream. Tasks side by side are predicted by a StreamSchedule, with `fork` more if
/// they are on several streams. Divided tasks take as long as their parts, which slow each other down, with `fork`
/// more; inputs that earlier stages made are cut, and results that later stages read are joined. At most 256 are in a
/// stage. Of stages in succession whose tasks have all cores, all are one stage.
std::vector<Stage> choose_stages(const TaskGraph& graph, const StageTimes& times, size_t streams, Nanoseconds fork,
                                 const Neighborhood& neighborhood = {});

}  // namespace isomer
