#pragma once
// When tasks run.

#include "isomer/plan/task_graph.h"

namespace isomer {

/// Times of the tasks of a graph. Those of removed tasks are 0.
struct Schedule {
  std::vector<Nanoseconds> ready;  ///< when the last predecessor ends
  std::vector<Nanoseconds> start;  ///< when all resources are there, too
  std::vector<Nanoseconds> end;
  Nanoseconds makespan = 0;  ///< the last end
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// A longest path through a graph.
struct CriticalPath {
  std::vector<TaskId> tasks;
  Nanoseconds length = 0;  ///< of all durations on it: no schedule is shorter
};

/// Returns a path with the longest sum of durations, as if there were enough of every resource. If several are the
/// longest, it is the same one each time. An Error if there is a cycle.
Result<CriticalPath> critical_path(const TaskGraph& graph);

/// Returns the tasks that determine a schedule's makespan, in their order: each starts when the one before it ends,
/// the first at 0, and the last ends at the makespan. Each waits for the one before it, because of an edge, or because
/// that one has the last unit of a resource that it needs. `schedule` is what simulate() returns.
std::vector<TaskId> binding_tasks(const TaskGraph& graph, const Schedule& schedule);

/// Returns for each resource the part of its units that is occupied, on average over the makespan, from 0 to 1.
std::vector<double> utilization(const TaskGraph& graph, const Schedule& schedule);

}  // namespace isomer
