#include "isomer/plan/closure.h"

namespace isomer {

Result<Closure> Closure::make(const TaskGraph& graph) {
  Closure closure;
  ISOMER_TRY(closure.order_, topological_order(graph));
  const size_t tasks = graph.task_limit();
  closure.words_ = (tasks + kWordBits - 1) / kWordBits;
  closure.bits_.assign(tasks * closure.words_, 0);
  closure.reduction_.resize(tasks);
  std::vector<size_t> place(tasks, 0);
  for (size_t i = 0; i < closure.order_.size(); ++i) place[closure.order_[i]] = i;
  for (auto task = closure.order_.rbegin(); task != closure.order_.rend(); ++task) {
    const auto successors = graph.successors(*task);
    std::vector<TaskId> next(successors.begin(), successors.end());
    std::sort(next.begin(), next.end(), [&](TaskId a, TaskId b) { return place[a] < place[b]; });
    uint64_t* row = closure.bits_.data() + *task * closure.words_;
    for (const TaskId to : next) {
      // A longer path to `to` goes through a successor that comes before it in the order.
      if (closure.leads(*task, to)) continue;
      closure.reduction_[*task].push_back(to);
      const auto beyond = closure.after(to);
      for (size_t word = 0; word < closure.words_; ++word) row[word] |= beyond[word];
      row[to / kWordBits] |= uint64_t{1} << (to % kWordBits);
    }
  }
  return closure;
}

}  // namespace isomer
