#pragma once
// The list-scheduling simulator (FlexFlow, dissertation section 3.4.2).

#include "isomer/plan/schedule.h"

namespace isomer {

/// When a task takes its resources: tasks do so in the order of when they are ready, then of their ranks, then of
/// their numbers. This order is total, so a graph has one schedule.
struct ScheduleKey {
  Nanoseconds ready = 0;
  int32_t rank = 0;
  TaskId task = 0;
  friend auto operator<=>(const ScheduleKey&, const ScheduleKey&) = default;
};

/// The times at which the units of a resource become free, ascending.
using FreeUnits = std::span<Nanoseconds>;

/// Returns when `units` of a resource are free.
inline Nanoseconds free_at(std::span<const Nanoseconds> free, uint32_t units) { return free[units - 1]; }

/// Occupies the `units` that are free first until `end`. Times before `ready` become `ready`: tasks that come later
/// are not ready before, so this changes nothing for them, and equal situations have equal times.
void occupy(FreeUnits free, uint32_t units, Nanoseconds ready, Nanoseconds end);

/// Returns the schedule in which each resource serves tasks in the order in which they become ready: first in, first
/// out. Each task takes the units that are free first, and starts when it has all. It does not overtake tasks that were
/// ready before it. An Error if the graph has a cycle.
///
/// Any other order on a resource, such as a stream's, is expressed by edges.
Result<Schedule> simulate(const TaskGraph& graph);

}  // namespace isomer
