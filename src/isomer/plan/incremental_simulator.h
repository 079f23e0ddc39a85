#pragma once
// Simulates a task graph again after a few changes (FlexFlow's delta simulation, dissertation section 3.4.3).

#include <optional>

#include "isomer/plan/resource_log.h"

namespace isomer {

/// Keeps the schedule of a graph that changes. After changes, update() simulates only tasks whose times may differ:
/// those that changed, their successors, and tasks that share a resource with either, as long as anything differs. Each
/// of them is simulated at most once. The schedule is always the one that simulate() returns.
class IncrementalSimulator {
 public:
  /// An Error if the graph has a cycle.
  static Result<IncrementalSimulator> make(TaskGraph graph);

  const TaskGraph& graph() const { return graph_; }
  /// The schedule at the last update that succeeded.
  const Schedule& schedule() const { return schedule_; }

  // Changes, as those of TaskGraph. They take effect at the next update. The task's resources are a set that the graph
  // had at first.
  TaskId add_task(const Task& task);
  void remove_task(TaskId task);
  void set_task(TaskId id, const Task& task);
  bool add_edge(TaskId from, TaskId to);
  bool remove_edge(TaskId from, TaskId to);

  /// Simulates what changed since the last update. If that fails, because the graph has a cycle now, the schedule
  /// stays, and the next update takes these changes into account, too.
  Status update();

  /// The number of tasks that the last update simulated.
  size_t simulated() const { return simulated_; }

 private:
  /// The place of a task in the schedule before the running update.
  struct Placed {
    bool exists = false;
    ScheduleKey key;
    ResourceSetId resources = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
  };
  /// What the running update has done with a task. By default, it still has its old times.
  struct Progress {
    bool touched : 1 = false;
    bool queued : 1 = false;  ///< its old place is on the agenda, or was
    bool passed : 1 = false;  ///< its old place is passed, or it had none
    bool placed : 1 = false;  ///< it has its new times
  };

  explicit IncrementalSimulator(TaskGraph graph) : graph_(std::move(graph)) {}
  void load();
  void seed();
  void visit(const ScheduleKey& key);
  void place(const ScheduleKey& key, bool leaves, bool was_open);
  std::span<const Nanoseconds> seek(ResourceId resource, const ScheduleKey& key);
  void change_resources(const ScheduleKey& key, bool leaves, Nanoseconds end);
  void finish(bool keep);
  void push(const ScheduleKey& key);
  void push_old(TaskId task);
  void push_new(TaskId task);
  void touch(TaskId task);
  std::optional<Nanoseconds> ready(TaskId task) const;
  /// Whether a task has neither its old times any more nor its new ones yet.
  bool open(TaskId task) const { return progress_[task].passed && !progress_[task].placed; }

  TaskGraph graph_;
  Schedule schedule_;
  std::vector<Placed> old_;
  std::vector<ResourceLog> logs_;
  std::vector<TaskId> changed_;  // since the last update

  // The running update.
  std::vector<Progress> progress_;
  std::vector<TaskId> touched_;
  std::vector<ResourceId> updating_;
  std::vector<ScheduleKey> agenda_;  // a heap: what to visit, the least key first
  ScheduleKey visited_;
  size_t open_ = 0;
  size_t simulated_ = 0;
};

}  // namespace isomer
