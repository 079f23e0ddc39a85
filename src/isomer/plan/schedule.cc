#include "isomer/plan/schedule.h"

#include "isomer/plan/simulate.h"

namespace isomer {
namespace {

/// Returns for each task that waits for a resource a task that had the last of the units that it needs. Repeats the
/// simulation, whose times are known, to find out who had which units.
std::vector<TaskId> units_from(const TaskGraph& graph, const Schedule& schedule) {
  using Unit = std::pair<Nanoseconds, TaskId>;  // when it is free, and who had it
  std::vector<std::vector<Unit>> units(graph.resource_count());
  for (ResourceId id = 0; id < units.size(); ++id) units[id].assign(graph.resource(id).units, {0, 0});
  std::vector<ScheduleKey> order;
  for (TaskId task = 0; task < graph.task_limit(); ++task)
    if (graph.contains(task)) order.push_back({schedule.ready[task], graph.task(task).rank, task});
  std::sort(order.begin(), order.end());
  std::vector<TaskId> from(graph.task_limit(), 0);
  for (const ScheduleKey& key : order)
    for (const auto& [resource, count] : graph.uses(graph.task(key.task).resources)) {
      std::vector<Unit>& all = units[resource];
      const auto& [free, last] = all[count - 1];
      if (free == schedule.start[key.task]) from[key.task] = last;
      std::fill_n(all.begin(), count, Unit{schedule.end[key.task], key.task});
      std::sort(all.begin(), all.end());
    }
  return from;
}

}  // namespace

Result<CriticalPath> critical_path(const TaskGraph& graph) {
  ISOMER_TRY(const std::vector<TaskId> order, topological_order(graph));
  std::vector<Nanoseconds> length(graph.task_limit(), 0);  // of a longest path that ends with a task
  const auto longest = [&](std::span<const TaskId> tasks) {
    const auto shorter = [&](TaskId a, TaskId b) { return length[a] != length[b] ? length[a] < length[b] : a > b; };
    return *std::max_element(tasks.begin(), tasks.end(), shorter);
  };
  for (const TaskId task : order) {
    const auto before = graph.predecessors(task);
    length[task] = graph.task(task).duration + (before.empty() ? 0 : length[longest(before)]);
  }
  CriticalPath path;
  if (order.empty()) return path;
  path.tasks = {longest(order)};
  path.length = length[path.tasks.front()];
  while (!graph.predecessors(path.tasks.back()).empty())
    path.tasks.push_back(longest(graph.predecessors(path.tasks.back())));
  std::reverse(path.tasks.begin(), path.tasks.end());
  return path;
}

std::vector<TaskId> binding_tasks(const TaskGraph& graph, const Schedule& schedule) {
  std::vector<TaskId> chain;
  for (TaskId task = 0; task < graph.task_limit(); ++task)
    if (graph.contains(task) && schedule.end[task] == schedule.makespan) chain = {task};
  if (chain.empty()) return chain;
  const std::vector<TaskId> from = units_from(graph, schedule);
  while (schedule.start[chain.back()] > 0) {
    const TaskId task = chain.back();
    const auto before = graph.predecessors(task);
    const bool waited = schedule.start[task] > schedule.ready[task];  // for a resource
    chain.push_back(waited ? from[task] : *std::find_if(before.begin(), before.end(), [&](TaskId other) {
      return schedule.end[other] == schedule.ready[task];
    }));
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::vector<double> utilization(const TaskGraph& graph, const Schedule& schedule) {
  std::vector<Nanoseconds> occupied(graph.resource_count(), 0);
  for (TaskId task = 0; task < graph.task_limit(); ++task) {
    if (!graph.contains(task)) continue;
    for (const ResourceUse& use : graph.uses(graph.task(task).resources))
      occupied[use.resource] += use.units * graph.task(task).duration;
  }
  std::vector<double> parts(graph.resource_count(), 0);
  for (ResourceId id = 0; id < parts.size() && schedule.makespan > 0; ++id)
    parts[id] = static_cast<double>(occupied[id]) / graph.resource(id).units / static_cast<double>(schedule.makespan);
  return parts;
}

}  // namespace isomer
