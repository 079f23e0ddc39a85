#include "isomer/plan/stream_schedule.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace isomer {

StreamSchedule::StreamSchedule(const TaskGraph& graph, const Neighborhood& neighborhood, size_t streams)
    : graph_(graph),
      neighborhood_(neighborhood),
      on_(streams),
      start_(graph.task_limit()),
      end_(graph.task_limit()),
      stream_(graph.task_limit()) {}

void StreamSchedule::begin(TaskId first) {
  first_ = first;
  for (std::vector<TaskId>& tasks : on_) tasks.clear();
}

Nanoseconds StreamSchedule::add(TaskId task) {
  const size_t stream = best_stream(task);
  const Slot slot = slot_on(stream, task);
  start_[task] = slot.start;
  end_[task] = slot.end;
  stream_[task] = stream;
  if (!neighborhood_.memory_share.empty()) slow_down(task);
  on_[stream].push_back(task);
  Nanoseconds last = 0;
  for (size_t s = 0; s < on_.size(); ++s) last = std::max(last, free(s));
  return last;
}

size_t StreamSchedule::best_stream(TaskId task) const {
  size_t best = 0;
  std::tuple least = {slot_on(0, task).end, -free(0)};
  for (size_t s = 1; s < on_.size(); ++s) {
    const std::tuple here = {slot_on(s, task).end, -free(s)};
    if (here >= least) continue;
    best = s;
    least = here;
  }
  return best;
}

bool StreamSchedule::forks() const {
  return std::ranges::count_if(on_, [](const std::vector<TaskId>& tasks) { return !tasks.empty(); }) > 1;
}

StreamSchedule::Slot StreamSchedule::slot_on(size_t stream, TaskId task) const {
  const Nanoseconds synchronization = std::llround(1e3 * neighborhood_.costs.synchronization_us);
  Slot slot{.start = free(stream)};
  for (const TaskId before : graph_.predecessors(task)) {
    if (before < first_) continue;
    slot.start = std::max(slot.start, end_[before] + (stream_[before] == stream ? 0 : synchronization));
  }
  slot.end = slot.start + graph_.task(task).duration + transfer(task, stream);
  return slot;
}

Nanoseconds StreamSchedule::transfer(TaskId task, size_t stream) const {
  if (neighborhood_.inputs.empty()) return 0;
  const double others = 1 - 1 / static_cast<double>(on_.size());
  double bytes = 0;
  for (const TaskInput& input : neighborhood_.inputs[task]) {
    const bool known = input.from >= first_;  // each stream may have made earlier ones, or a part of them
    bytes += input.bytes * (known ? (stream_[input.from] == stream ? 0 : 1) : others);
  }
  return std::llround(1e3 * neighborhood_.costs.transfer_us * bytes);
}

void StreamSchedule::slow_down(TaskId task) {
  const Nanoseconds end = end_[task];
  double lost = 0;
  for (size_t s = 0; s < on_.size(); ++s) {
    if (s == stream_[task]) continue;
    double lost_there = 0;
    for (size_t i = on_[s].size(); i-- > 0;) {
      const TaskId other = on_[s][i];
      if (end_[other] <= start_[task]) break;
      const auto common = static_cast<double>(std::min(end, end_[other]) - std::max(start_[task], start_[other]));
      if (common <= 0) continue;
      lost += common * (neighborhood_.slowdown(task, other) - 1);
      lost_there += common * (neighborhood_.slowdown(other, task) - 1);
    }
    if (lost_there > 0) end_[on_[s].back()] += std::llround(lost_there);
  }
  end_[task] += std::llround(lost);
}

}  // namespace isomer
