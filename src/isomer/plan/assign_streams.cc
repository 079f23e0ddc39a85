#include "isomer/plan/assign_streams.h"

#include <tuple>

#include "isomer/plan/path_cover.h"

namespace isomer {
namespace {

/// Returns all tasks, those with the longest path behind them first. So each comes after its predecessors.
std::vector<TaskId> by_path_behind(const TaskGraph& graph, std::vector<TaskId> order) {
  std::vector<Nanoseconds> length(graph.task_limit(), 0);
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    for (const TaskId next : graph.successors(*task)) length[*task] = std::max(length[*task], length[next]);
    length[*task] += graph.task(*task).duration;
  }
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) { return length[a] > length[b]; });
  return order;
}

/// List scheduling on `count` streams (Topcuoglu et al. 2002, "Performance-Effective and Low-Complexity Task
/// Scheduling", without costs of communication).
std::vector<std::vector<TaskId>> list_schedule(const TaskGraph& graph, const std::vector<TaskId>& order, size_t count) {
  std::vector<std::vector<TaskId>> streams(count);
  std::vector<Nanoseconds> free(count, 0);
  std::vector<Nanoseconds> end(graph.task_limit(), 0);
  for (const TaskId task : order) {
    const auto before = graph.predecessors(task);
    Nanoseconds ready = 0;
    for (const TaskId one : before) ready = std::max(ready, end[one]);
    // A stream that ends with a predecessor saves a synchronization. Of others, the one that idles least.
    const auto worth = [&](size_t stream) {
      const bool follows =
          !streams[stream].empty() && std::find(before.begin(), before.end(), streams[stream].back()) != before.end();
      return std::tuple(-std::max(free[stream], ready), follows, free[stream]);
    };
    size_t best = 0;
    for (size_t stream = 1; stream < count; ++stream)
      if (worth(stream) > worth(best)) best = stream;
    end[task] = std::max(free[best], ready) + graph.task(task).duration;
    free[best] = end[task];
    streams[best].push_back(task);
  }
  std::erase_if(streams, [](const std::vector<TaskId>& stream) { return stream.empty(); });
  return streams;
}

}  // namespace

Result<std::vector<Synchronization>> fewest_synchronizations(const TaskGraph& graph,
                                                             const std::vector<std::vector<TaskId>>& streams) {
  std::vector<size_t> stream_of(graph.task_limit(), SIZE_MAX);
  for (size_t stream = 0; stream < streams.size(); ++stream)
    for (const TaskId task : streams[stream]) {
      if (!graph.contains(task)) return fail("stream {} has task {}, which does not exist", stream, task);
      if (stream_of[task] != SIZE_MAX) return fail("task {} is on a stream twice", task);
      stream_of[task] = stream;
    }
  for (TaskId task = 0; task < graph.task_limit(); ++task)
    if (graph.contains(task) && stream_of[task] == SIZE_MAX) return fail("task {} is on no stream", task);
  TaskGraph ordered = graph;
  add_order(ordered, {streams, {}});
  ISOMER_TRY(const Closure closure, Closure::make(ordered));
  std::vector<Synchronization> all;
  for (const TaskId task : closure.order())
    for (const TaskId next : closure.reduction()[task])
      if (stream_of[task] != stream_of[next]) all.push_back({task, next});
  return all;
}

Result<StreamPlan> assign_streams(const TaskGraph& graph, size_t max_streams) {
  if (max_streams == 0) return fail("a plan needs at least one stream");
  ISOMER_TRY(const Closure closure, Closure::make(graph));
  StreamPlan plan{path_cover(closure, graph.task_limit()), {}};
  if (plan.streams.size() > max_streams)
    plan.streams = list_schedule(graph, by_path_behind(graph, closure.order()), max_streams);
  ISOMER_TRY(plan.synchronizations, fewest_synchronizations(graph, plan.streams));
  return plan;
}

}  // namespace isomer
