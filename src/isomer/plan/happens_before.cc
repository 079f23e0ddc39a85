#include "isomer/plan/happens_before.h"

namespace isomer {

Result<HappensBefore> HappensBefore::make(const StreamPlan& plan, size_t task_limit) {
  HappensBefore order;
  order.streams_ = plan.streams.size();
  order.stream_.assign(task_limit, kNowhere);
  order.position_.assign(task_limit, 0);
  order.clocks_.assign(task_limit * order.streams_, 0);
  for (size_t stream = 0; stream < plan.streams.size(); ++stream) {
    const std::vector<TaskId>& tasks = plan.streams[stream];
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i] >= task_limit) return fail("stream {} has task {}, which does not exist", stream, tasks[i]);
      if (order.stream_[tasks[i]] != kNowhere) return fail("task {} is on a stream twice", tasks[i]);
      order.stream_[tasks[i]] = static_cast<uint32_t>(stream);
      order.position_[tasks[i]] = static_cast<uint32_t>(i);
    }
  }
  Adjacency after;
  std::vector<uint32_t> waiting(task_limit, 0);
  for (size_t i = 0; i < task_limit; ++i) after.add_node();
  const auto add = [&](TaskId from, TaskId to) {
    after.add(from, to);
    ++waiting[to];
  };
  for (const std::vector<TaskId>& stream : plan.streams)
    for (size_t i = 1; i < stream.size(); ++i) add(stream[i - 1], stream[i]);
  for (const auto& [from, to] : plan.synchronizations) {
    for (const TaskId task : {from, to})
      if (task >= task_limit || order.stream_[task] == kNowhere)
        return fail("a synchronization has task {}, which is on no stream", task);
    add(from, to);
  }
  std::vector<TaskId> queue;
  for (TaskId task = 0; task < task_limit; ++task)
    if (order.stream_[task] != kNowhere && waiting[task] == 0) queue.push_back(task);
  for (size_t i = 0; i < queue.size(); ++i) {
    const TaskId task = queue[i];
    const uint32_t* from = order.clocks_.data() + task * order.streams_;
    for (const TaskId next : after.of(task)) {
      uint32_t* to = order.clocks_.data() + next * order.streams_;
      for (size_t stream = 0; stream < order.streams_; ++stream) to[stream] = std::max(to[stream], from[stream]);
      uint32_t& own = to[order.stream_[task]];
      own = std::max(own, order.position_[task] + 1);
      if (--waiting[next] == 0) queue.push_back(next);
    }
  }
  for (TaskId task = 0; task < task_limit; ++task)
    if (waiting[task] > 0) return fail("task {} waits for itself or for tasks that do", task);
  return order;
}

}  // namespace isomer
