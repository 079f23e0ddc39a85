#include "isomer/plan/stages.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace isomer {
namespace {

constexpr size_t kMaxSideBySide = 256;

/// List scheduling in the order of the tasks' numbers, one task after the other.
class Streams {
 public:
  Streams(const TaskGraph& graph, size_t streams) : graph_(graph), free_(streams), end_(graph.task_limit()) {}

  void begin(TaskId first) {
    first_ = first;
    last_end_ = 0;
    std::ranges::fill(free_, 0);
  }

  /// Whether tasks are on several streams.
  bool forks() const { return std::ranges::count(free_, Nanoseconds{0}) + 1 < std::ssize(free_); }

  /// Schedules the next task. Returns when all tasks so far have ended.
  Nanoseconds add(TaskId task) {
    Nanoseconds ready = 0;
    for (const TaskId before : graph_.predecessors(task))
      if (before >= first_) ready = std::max(ready, end_[before]);
    const auto worth = [&](Nanoseconds free) { return std::tuple(-std::max(free, ready), free); };
    const auto best = std::ranges::max_element(free_, {}, worth);
    end_[task] = std::max(*best, ready) + graph_.task(task).duration;
    *best = end_[task];
    last_end_ = std::max(last_end_, end_[task]);
    return last_end_;
  }

 private:
  const TaskGraph& graph_;
  TaskId first_ = 0;
  Nanoseconds last_end_ = 0;
  std::vector<Nanoseconds> free_;  // by stream
  std::vector<Nanoseconds> end_;   // by task
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

std::vector<Stage> choose_stages(const TaskGraph& graph, std::span<const Nanoseconds> alone, size_t streams,
                                 Nanoseconds fork) {
  struct Best {
    Nanoseconds time = std::numeric_limits<Nanoseconds>::max();
    TaskId begin = 0;  // of the last stage
    bool side_by_side = false;
  };
  const size_t count = graph.task_limit();
  std::vector<Best> best(count + 1);  // of the tasks before this one
  best[0].time = 0;
  Streams schedule(graph, streams);
  for (TaskId begin = 0; begin < count; ++begin) {
    const auto offer = [&](TaskId end, Nanoseconds time, bool side_by_side) {
      if (best[begin].time + time < best[end].time) best[end] = {best[begin].time + time, begin, side_by_side};
    };
    offer(begin + 1, alone[begin], false);
    schedule.begin(begin);
    for (TaskId task = begin; task < std::min(count, begin + kMaxSideBySide); ++task) {
      const Nanoseconds time = schedule.add(task);
      offer(task + 1, time + (schedule.forks() ? fork : 0), true);
    }
  }
  std::vector<Stage> stages;
  for (auto end = static_cast<TaskId>(count); end > 0; end = best[end].begin) {
    const Stage stage{best[end].begin, end, best[end].side_by_side};
    if (!stages.empty() && !stage.side_by_side && !stages.back().side_by_side)
      stages.back().begin = stage.begin;
    else
      stages.push_back(stage);
  }
  std::ranges::reverse(stages);
  return stages;
}

}  // namespace isomer
