#include "isomer/plan/schedule.h"

namespace isomer {
namespace {

bool share_resource(const TaskGraph& graph, TaskId a, TaskId b) {
  for (const ResourceUse& one : graph.uses(graph.task(a).resources))
    for (const ResourceUse& other : graph.uses(graph.task(b).resources))
      if (one.resource == other.resource) return true;
  return false;
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
  std::vector<TaskId> by_end;
  for (TaskId task = 0; task < graph.task_limit(); ++task)
    if (graph.contains(task)) by_end.push_back(task);
  const auto earlier = [&](TaskId a, TaskId b) {
    return schedule.end[a] != schedule.end[b] ? schedule.end[a] < schedule.end[b] : a < b;
  };
  std::sort(by_end.begin(), by_end.end(), earlier);
  std::vector<TaskId> chain;
  if (by_end.empty()) return chain;
  chain.push_back(by_end.back());
  while (schedule.start[chain.back()] > 0) {
    const TaskId task = chain.back();
    const Nanoseconds start = schedule.start[task];
    const bool waited = start > schedule.ready[task];  // for a resource
    const auto begin = std::lower_bound(by_end.begin(), by_end.end(), start,
                                        [&](TaskId other, Nanoseconds time) { return schedule.end[other] < time; });
    const auto cause = std::find_if(begin, by_end.end(), [&](TaskId other) {
      if (waited) return share_resource(graph, other, task);
      const auto before = graph.predecessors(task);
      return std::find(before.begin(), before.end(), other) != before.end();
    });
    chain.push_back(*cause);
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
