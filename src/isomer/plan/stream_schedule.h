#pragma once
// List scheduling on streams in the order of the tasks' numbers, one task after the other.

#include <vector>

#include "isomer/plan/neighbors.h"

namespace isomer {

/// A schedule on equal streams that grows by one task at a time. A task goes to the stream where it ends first; of
/// these, to the one that has been idle for the shortest time.
///
/// Tasks that run at the same time slow each other down. So a task that is added ends later by what it loses to all
/// that run meanwhile on other streams, and every other stream ends later by what its tasks lose to the new one. Within
/// a stream that has several tasks meanwhile, only its last one moves, and not what other streams have begun after it.
class StreamSchedule {
 public:
  /// Keeps references.
  StreamSchedule(const TaskGraph& graph, const Neighborhood& neighborhood, size_t streams);

  /// Begins an empty schedule at time 0. All tasks before `first` have ended.
  void begin(TaskId first);
  /// Schedules the next task; the first one is `first`. Returns when all tasks so far have ended.
  Nanoseconds add(TaskId task);
  /// Returns whether tasks are on several streams.
  bool forks() const;

  // Of a task in the schedule:
  Nanoseconds start(TaskId task) const { return start_[task]; }
  Nanoseconds end(TaskId task) const { return end_[task]; }
  size_t stream(TaskId task) const { return stream_[task]; }

 private:
  /// A place for the next task.
  struct Slot {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
  };
  /// Returns when a stream has ended all its tasks.
  Nanoseconds free(size_t stream) const { return on_[stream].empty() ? 0 : end_[on_[stream].back()]; }
  Slot slot_on(size_t stream, TaskId task) const;
  size_t best_stream(TaskId task) const;
  /// Returns how much longer a task takes on a stream because others made its inputs.
  Nanoseconds transfer(TaskId task, size_t stream) const;
  void slow_down(TaskId task);

  const TaskGraph& graph_;
  const Neighborhood& neighborhood_;
  TaskId first_ = 0;
  std::vector<std::vector<TaskId>> on_;  // by stream, in their order
  // By task:
  std::vector<Nanoseconds> start_;
  std::vector<Nanoseconds> end_;
  std::vector<size_t> stream_;
};

}  // namespace isomer
