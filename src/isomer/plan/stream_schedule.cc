#include "isomer/plan/stream_schedule.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace isomer {

StreamSchedule::StreamSchedule(const TaskGraph& graph, const Neighborhood& neighborhood, size_t streams)
    : graph_(graph),
      neighborhood_(neighborhood),
      streams_(streams),
      start_(graph.task_limit()),
      end_(graph.task_limit()),
      stream_(graph.task_limit()) {}

void StreamSchedule::begin(TaskId first) {
  first_ = first;
  std::ranges::fill(streams_, Stream{});
}

Nanoseconds StreamSchedule::add(TaskId task) {
  const size_t chosen = best_stream(task);
  const Slot slot = slot_on(chosen, task);
  start_[task] = slot.start;
  end_[task] = slot.end;
  stream_[task] = chosen;
  if (!neighborhood_.memory_share.empty()) slow_down(task);
  streams_[chosen] = {end_[task], task};
  return std::ranges::max_element(streams_, {}, &Stream::free)->free;
}

size_t StreamSchedule::best_stream(TaskId task) const {
  size_t best = 0;
  std::tuple least = {slot_on(0, task).end, -streams_[0].free};
  for (size_t s = 1; s < streams_.size(); ++s) {
    const std::tuple here = {slot_on(s, task).end, -streams_[s].free};
    if (here >= least) continue;
    best = s;
    least = here;
  }
  return best;
}

bool StreamSchedule::forks() const {
  return std::ranges::count_if(streams_, [](const Stream& stream) { return stream.last.has_value(); }) > 1;
}

StreamSchedule::Slot StreamSchedule::slot_on(size_t stream, TaskId task) const {
  const Nanoseconds synchronization = std::llround(1e3 * neighborhood_.costs.synchronization_us);
  Slot slot{.start = streams_[stream].free};
  for (const TaskId before : graph_.predecessors(task)) {
    if (before < first_) continue;
    slot.start = std::max(slot.start, end_[before] + (stream_[before] == stream ? 0 : synchronization));
  }
  slot.end = slot.start + graph_.task(task).duration + transfer(task, stream);
  return slot;
}

Nanoseconds StreamSchedule::transfer(TaskId task, size_t stream) const {
  if (neighborhood_.inputs.empty()) return 0;
  const double others = 1 - 1 / static_cast<double>(streams_.size());
  double bytes = 0;
  for (const TaskInput& input : neighborhood_.inputs[task]) {
    const bool known = input.from >= first_;  // each stream may have made earlier ones, or a part of them
    bytes += input.bytes * (known ? (stream_[input.from] == stream ? 0 : 1) : others);
  }
  return std::llround(1e3 * neighborhood_.costs.transfer_us * bytes);
}

void StreamSchedule::slow_down(TaskId task) {
  const Nanoseconds alone = end_[task];
  for (size_t s = 0; s < streams_.size(); ++s) {
    if (s == stream_[task] || !streams_[s].last) continue;
    const TaskId other = *streams_[s].last;
    const Nanoseconds overlap = std::min(alone, end_[other]) - std::max(start_[task], start_[other]);
    if (overlap <= 0) continue;
    const auto longer = [&](double slowdown) { return std::llround(static_cast<double>(overlap) * (slowdown - 1)); };
    end_[task] += longer(neighborhood_.slowdown(task, other));
    streams_[s].free = end_[other] += longer(neighborhood_.slowdown(other, task));
  }
}

}  // namespace isomer
