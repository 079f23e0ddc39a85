#include "isomer/plan/stages.h"

#include <algorithm>
#include <limits>

#include "isomer/plan/stream_schedule.h"

namespace isomer {
namespace {

constexpr size_t kMaxInStage = 256;

/// A stage of divided tasks that grows by one task at a time.
class DividedStage {
 public:
  /// Keeps references.
  DividedStage(const TaskGraph& graph, const StageTimes& times, const Neighborhood& neighborhood, size_t streams,
               Nanoseconds fork)
      : graph_(graph),
        times_(times),
        neighborhood_(neighborhood),
        streams_(streams),
        fork_(fork),
        last_reader_(graph.task_limit(), 0),
        bytes_(graph.task_limit(), 0),
        cut_in_(graph.task_limit(), 0) {
    for (TaskId task = 0; task < neighborhood.inputs.size(); ++task) {
      for (const TaskInput& input : neighborhood.inputs[task]) {
        last_reader_[input.from] = std::max(last_reader_[input.from], task);
        bytes_[input.from] = std::max(bytes_[input.from], input.bytes);
      }
    }
  }

  void begin(TaskId first) {
    first_ = first;
    time_ = fork_;
    open_ = 0;
  }
  bool can_add(TaskId task) const { return !times_.parts.empty() && times_.parts[task] > 0; }
  /// Adds the next task. Returns how long the stage takes if it is the last one.
  Nanoseconds add(TaskId task) {
    double cut = 0;
    if (!neighborhood_.inputs.empty())
      for (const TaskInput& input : neighborhood_.inputs[task])
        if (input.from < first_ && cut_in_[input.from] != first_) {
          cut_in_[input.from] = first_;  // once for all that read it
          cut += input.bytes;
        }
    for (const TaskId before : graph_.predecessors(task))
      if (before >= first_ && last_reader_[before] == task) open_ -= bytes_[before];
    if (last_reader_[task] > task) open_ += bytes_[task];
    time_ += neighborhood_.among_parts(task, times_.parts[task], streams_) + neighborhood_.copying(cut, streams_);
    return time_ + neighborhood_.copying(open_, streams_);
  }

 private:
  const TaskGraph& graph_;
  const StageTimes& times_;
  const Neighborhood& neighborhood_;
  const size_t streams_;
  const Nanoseconds fork_;
  TaskId first_ = 0;
  Nanoseconds time_ = 0;  // without joins at the end
  double open_ = 0;       // bytes of results that a task after the last one reads
  // By task:
  std::vector<TaskId> last_reader_;  // 0: none
  std::vector<double> bytes_;        // of its result
  std::vector<TaskId> cut_in_;       // the first task of the last stage that cut its result; 0: none
};

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
  DividedStage divided(graph, times, neighborhood, streams, fork);
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
    divided.begin(begin);
    for (TaskId task = begin; task < end && divided.can_add(task); ++task)
      offer(task + 1, divided.add(task), StageKind::Divided);
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
