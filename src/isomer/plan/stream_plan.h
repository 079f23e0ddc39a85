#pragma once
// Which tasks run in which order: streams and the synchronizations between them.

#include "isomer/plan/task_graph.h"

namespace isomer {

/// One event: `after` starts when `before` has ended.
struct Synchronization {
  TaskId before = 0;
  TaskId after = 0;
  friend auto operator<=>(const Synchronization&, const Synchronization&) = default;
};

/// Tasks on streams. A stream runs its tasks one after the other. Tasks of different streams run in any order, or at
/// the same time, unless synchronizations order them.
struct StreamPlan {
  std::vector<std::vector<TaskId>> streams;
  std::vector<Synchronization> synchronizations;
  friend bool operator==(const StreamPlan&, const StreamPlan&) = default;
};

/// Adds the order of a plan to a graph: edges between neighbors on a stream and for the synchronizations. The plan is
/// about the graph's tasks.
inline void add_order(TaskGraph& graph, const StreamPlan& plan) {
  for (const std::vector<TaskId>& stream : plan.streams)
    for (size_t i = 1; i < stream.size(); ++i) graph.add_edge(stream[i - 1], stream[i]);
  for (const Synchronization& one : plan.synchronizations) graph.add_edge(one.before, one.after);
}

}  // namespace isomer
