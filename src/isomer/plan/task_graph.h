#pragma once
// Tasks on resources: kernels and transfers, as the simulator runs them.

#include <compare>
#include <string>

#include "isomer/base/result.h"
#include "isomer/plan/adjacency.h"

namespace isomer {

using TaskId = uint32_t;
using ResourceId = uint32_t;
using ResourceSetId = uint32_t;
using Nanoseconds = int64_t;

/// Something that a task occupies while it runs: a core, a stream, a device, a link. Several equal ones may be one
/// resource: four cores of a group are `units` of it.
struct Resource {
  std::string name;  ///< "core 0", for messages and timelines
  uint32_t units = 1;
};

/// Units of one resource that a task occupies from its start to its end.
struct ResourceUse {
  ResourceId resource = 0;
  uint32_t units = 1;
};

/// A kernel, or a transfer over one link. A transfer over several links is one task for each link, one after the
/// other, or one task that occupies all links.
struct Task {
  Nanoseconds duration = 1;     ///< at least 1
  ResourceSetId resources = 0;  ///< all that it occupies
  int32_t rank = 0;             ///< among tasks that become ready at the same time, lower ranks go first
  friend bool operator==(const Task&, const Task&) = default;
};

/// Returns a duration in nanoseconds, at least 1, as tasks have it. `microseconds` is finite and not negative.
Nanoseconds task_duration(double microseconds);

/// Returns the microseconds of a time in nanoseconds.
constexpr double in_microseconds(Nanoseconds time) { return 1e-3 * static_cast<double>(time); }

/// Tasks, the resources that they occupy, and edges: a task starts when the tasks before it have ended. Edges are data
/// dependences, the order of a stream, and synchronizations; the graph does not distinguish them. Tasks are numbered
/// from 0. The number of a removed task is given to the next one that is added.
class TaskGraph {
 public:
  ResourceId add_resource(std::string name, uint32_t units = 1);
  /// Returns the set with these uses, which are at least one, of different resources, and within their units. Equal
  /// sets are one.
  ResourceSetId add_resources(std::vector<ResourceUse> uses);
  TaskId add_task(const Task& task);
  /// Removes a task and its edges.
  void remove_task(TaskId task);
  void set_task(TaskId id, const Task& task);
  /// Adds an edge between two different tasks. False if it exists.
  bool add_edge(TaskId from, TaskId to);
  /// False if there is no such edge.
  bool remove_edge(TaskId from, TaskId to);

  size_t resource_count() const { return resources_.size(); }
  const Resource& resource(ResourceId id) const { return resources_[id]; }
  size_t resource_set_count() const { return set_ends_.size(); }
  /// By resource, ascending.
  std::span<const ResourceUse> uses(ResourceSetId set) const;

  /// Every number of a task is below this.
  size_t task_limit() const { return tasks_.size(); }
  size_t task_count() const { return tasks_.size() - vacant_.size(); }
  bool contains(TaskId id) const { return id < tasks_.size() && tasks_[id].duration > 0; }
  const Task& task(TaskId id) const { return tasks_[id]; }
  std::span<const TaskId> successors(TaskId id) const { return successors_.of(id); }
  std::span<const TaskId> predecessors(TaskId id) const { return predecessors_.of(id); }

 private:
  std::vector<Resource> resources_;
  std::vector<ResourceUse> uses_;
  std::vector<size_t> set_ends_;  // in uses_
  std::vector<Task> tasks_;       // duration 0: removed
  std::vector<TaskId> vacant_;
  Adjacency successors_;
  Adjacency predecessors_;
};

/// Returns all tasks, each after its predecessors. An Error that names the tasks of a cycle if there is one.
Result<std::vector<TaskId>> topological_order(const TaskGraph& graph);

}  // namespace isomer
