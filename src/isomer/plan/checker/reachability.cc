#include "isomer/plan/checker/reachability.h"

namespace isomer {

Reachability::Reachability(const StreamPlan& plan, size_t tasks, std::vector<PlanFault>& faults)
    : words_((tasks + 63) / 64), places_(tasks), bits_(tasks * words_, 0) {
  std::vector<std::vector<TaskId>> next(tasks);
  for (size_t stream = 0; stream < plan.streams.size(); ++stream) {
    const TaskId* last = nullptr;
    for (size_t place = 0; place < plan.streams[stream].size(); ++place) {
      const TaskId& task = plan.streams[stream][place];
      const std::string name = fmt::format("place {} of stream {}", place, stream);
      if (task >= tasks) {
        faults.push_back({PlanFault::Kind::Tasks, fmt::format("{} has task {}, which does not exist", name, task)});
        continue;
      }
      if (!places_[task].empty())
        faults.push_back({PlanFault::Kind::Tasks, fmt::format("{} is also at {}", where(task), name)});
      places_[task] = name;
      if (last != nullptr) next[*last].push_back(task);
      last = &task;
    }
  }
  for (const Synchronization& one : plan.synchronizations) {
    if (on_a_stream(one.before) && on_a_stream(one.after)) {
      next[one.before].push_back(one.after);
    } else {
      faults.push_back(
          {PlanFault::Kind::Tasks,
           fmt::format("task {} waits for task {}, and one of them is on no stream", one.after, one.before)});
    }
  }
  // Adds what is reachable until nothing is new: from the last tasks to the first, so that one round is enough unless
  // the numbers of the tasks say otherwise.
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t from = tasks; from-- > 0;) {
      uint64_t* row = bits_.data() + from * words_;
      for (const TaskId to : next[from]) {
        const uint64_t* other = bits_.data() + to * words_;
        for (size_t word = 0; word < words_; ++word) {
          const uint64_t all = row[word] | other[word] | (word == to / 64 ? uint64_t{1} << (to % 64) : 0);
          grows = grows || all != row[word];
          row[word] = all;
        }
      }
    }
  }
  for (TaskId task = 0; task < tasks; ++task)
    if (leads(task, task))
      faults.push_back({PlanFault::Kind::Deadlock, fmt::format("{} waits for itself", where(task))});
}

}  // namespace isomer
