#include "isomer/plan/simulate.h"

#include <functional>
#include <queue>

namespace isomer {

void occupy(FreeUnits free, uint32_t units, Nanoseconds ready, Nanoseconds end) {
  // The others move to the front, up to where `end` belongs.
  size_t to = 0;
  size_t from = units;
  for (; from < free.size() && free[from] < end; ++from) free[to++] = std::max(free[from], ready);
  std::fill(free.begin() + static_cast<ptrdiff_t>(to), free.begin() + static_cast<ptrdiff_t>(from), end);
}

Result<Schedule> simulate(const TaskGraph& graph) {
  const size_t tasks = graph.task_limit();
  Schedule schedule{std::vector<Nanoseconds>(tasks, 0), std::vector<Nanoseconds>(tasks, 0),
                    std::vector<Nanoseconds>(tasks, 0), 0};
  std::vector<size_t> first(graph.resource_count() + 1, 0);  // of each resource in `free`
  for (ResourceId id = 0; id < graph.resource_count(); ++id) first[id + 1] = first[id] + graph.resource(id).units;
  std::vector<Nanoseconds> free(first.back(), 0);
  const auto units_of = [&](ResourceId id) { return FreeUnits(free).subspan(first[id], graph.resource(id).units); };

  std::priority_queue<ScheduleKey, std::vector<ScheduleKey>, std::greater<>> queue;
  std::vector<uint32_t> waiting(tasks, 0);
  for (TaskId task = 0; task < tasks; ++task) {
    waiting[task] = static_cast<uint32_t>(graph.predecessors(task).size());
    if (graph.contains(task) && waiting[task] == 0) queue.push({0, graph.task(task).rank, task});
  }
  size_t done = 0;
  for (; !queue.empty(); ++done) {
    const ScheduleKey key = queue.top();
    queue.pop();
    const Task& task = graph.task(key.task);
    const auto uses = graph.uses(task.resources);
    Nanoseconds start = key.ready;
    for (const ResourceUse& use : uses) start = std::max(start, free_at(units_of(use.resource), use.units));
    const Nanoseconds end = start + task.duration;
    for (const ResourceUse& use : uses) occupy(units_of(use.resource), use.units, key.ready, end);
    schedule.start[key.task] = start;
    schedule.end[key.task] = end;
    schedule.makespan = std::max(schedule.makespan, end);
    for (const TaskId next : graph.successors(key.task)) {
      schedule.ready[next] = std::max(schedule.ready[next], end);
      if (--waiting[next] == 0) queue.push({schedule.ready[next], graph.task(next).rank, next});
    }
  }
  if (done == graph.task_count()) return schedule;
  const auto order = topological_order(graph);
  return tl::unexpected(order.error());
}

}  // namespace isomer
