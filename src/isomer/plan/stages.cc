#include "isomer/plan/stages.h"

#include <algorithm>
#include <limits>

#include "isomer/plan/stream_schedule.h"

namespace isomer {
namespace {

constexpr size_t kMaxInStage = 256;

}  // namespace

TaskGraph tasks_side_by_side(const TaskGraph& graph, TaskId begin, TaskId end, size_t cores) {
  TaskGraph out;
  const ResourceSetId core = out.add_resources({{out.add_resource("cores", static_cast<uint32_t>(cores))}});
  for (TaskId task = begin; task < end; ++task)
    out.add_task({.duration = graph.task(task).duration, .resources = core});
  for (TaskId task = begin; task < end; ++task)
    for (const TaskId before : graph.predecessors(task))
      if (before >= begin) out.add_edge(before - begin, task - begin);
  return out;
}

std::vector<Stage> choose_stages(const TaskGraph& graph, const StageTimes& times, size_t streams, Nanoseconds fork,
                                 const Neighborhood& neighborhood) {
  struct Best {
    Nanoseconds time = std::numeric_limits<Nanoseconds>::max();
    TaskId begin = 0;  // of the last stage
    StageKind kind = StageKind::AllCores;
  };
  const size_t count = graph.task_limit();
  std::vector<Best> best(count + 1);  // of the tasks before this one
  best[0].time = 0;
  StreamSchedule schedule(graph, neighborhood, streams);
  for (TaskId begin = 0; begin < count; ++begin) {
    const auto offer = [&](TaskId end, Nanoseconds time, StageKind kind) {
      if (best[begin].time + time < best[end].time) best[end] = {best[begin].time + time, begin, kind};
    };
    offer(begin + 1, times.alone[begin], StageKind::AllCores);
    schedule.begin(begin);
    const size_t end = std::min(count, begin + kMaxInStage);
    for (TaskId task = begin; task < end; ++task) {
      const Nanoseconds time = schedule.add(task);
      offer(task + 1, time + (schedule.forks() ? fork : 0), StageKind::SideBySide);
    }
    Nanoseconds divided = fork;
    for (TaskId task = begin; task < end && !times.parts.empty() && times.parts[task] > 0; ++task) {
      divided += neighborhood.among_parts(task, times.parts[task], streams) + neighborhood.cut(task, begin, streams);
      offer(task + 1, divided, StageKind::Divided);
    }
  }
  std::vector<Stage> stages;
  for (auto end = static_cast<TaskId>(count); end > 0; end = best[end].begin) {
    const Stage stage{best[end].begin, end, best[end].kind};
    if (!stages.empty() && stage.kind == StageKind::AllCores && stages.back().kind == StageKind::AllCores)
      stages.back().begin = stage.begin;
    else
      stages.push_back(stage);
  }
  std::ranges::reverse(stages);
  return stages;
}

}  // namespace isomer
