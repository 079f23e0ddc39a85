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
  follow(next);
  for (TaskId task = 0; task < tasks; ++task)
    if (leads(task, task))
      faults.push_back({PlanFault::Kind::Deadlock, fmt::format("{} waits for itself", where(task))});
}

void Reachability::follow(const std::vector<std::vector<TaskId>>& next) {
  struct Visit {
    TaskId task = 0;
    size_t edges = 0;  // that were followed
  };
  std::vector<size_t> number(next.size(), 0);  // of the visit, from 1; 0: not visited
  std::vector<size_t> lowest(next.size(), 0);  // number of a task that this one leads to and that leads to it
  std::vector<bool> open(next.size(), false);  // visited, and its component is not complete
  std::vector<TaskId> stack;                   // the open tasks
  std::vector<Visit> visits;
  size_t count = 0;
  const auto visit = [&](TaskId task) {
    number[task] = lowest[task] = ++count;
    open[task] = true;
    stack.push_back(task);
    visits.push_back({task});
  };
  for (TaskId root = 0; root < next.size(); ++root) {
    if (number[root] == 0) visit(root);
    while (!visits.empty()) {
      const TaskId task = visits.back().task;
      if (visits.back().edges < next[task].size()) {
        const TaskId to = next[task][visits.back().edges++];
        if (number[to] == 0) {
          visit(to);
        } else if (open[to]) {
          lowest[task] = std::min(lowest[task], number[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) lowest[visits.back().task] = std::min(lowest[visits.back().task], lowest[task]);
      if (lowest[task] != number[task]) continue;
      const auto first = std::find(stack.rbegin(), stack.rend(), task).base() - 1;
      add_component({first, stack.end()}, next);
      for (auto member = first; member != stack.end(); ++member) open[*member] = false;
      stack.erase(first, stack.end());
    }
  }
}

void Reachability::add_component(const std::vector<TaskId>& tasks, const std::vector<std::vector<TaskId>>& next) {
  uint64_t* row = bits_.data() + tasks.front() * words_;
  for (const TaskId task : tasks)
    for (const TaskId to : next[task]) {
      row[to / 64] |= uint64_t{1} << (to % 64);
      const uint64_t* other = bits_.data() + to * words_;
      for (size_t word = 0; word < words_; ++word) row[word] |= other[word];
    }
  for (const TaskId task : tasks)
    if (task != tasks.front()) std::copy_n(row, words_, bits_.data() + task * words_);
}

}  // namespace isomer
