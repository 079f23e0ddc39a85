#include "isomer/plan/path_cover.h"

#include <bit>

namespace isomer {
namespace {

constexpr TaskId kNone = UINT32_MAX;

/// A matching between tasks and the tasks behind them on their chains. An edge of the reduction costs 0, another edge
/// of the closure 1. First comes the largest matching that costs nothing (Nimble, Kwon et al. 2020, section 4.2). It
/// grows along paths that cost 1 in all: the number of edges of the reduction stays. As minimum costs are convex in the
/// size of a matching, all later paths would cost more: they would lose such edges.
class ChainMatching {
 public:
  ChainMatching(const Closure& closure, size_t tasks)
      : closure_(closure),
        next_(tasks, kNone),
        before_(tasks, kNone),
        costly_task_(tasks, false),
        costly_next_((tasks + Closure::kWordBits - 1) / Closure::kWordBits, 0),
        unseen_(costly_next_.size(), 0) {}

  void run() {
    grow();
    find_potentials();
    grow();
  }
  TaskId next(TaskId task) const { return next_[task]; }
  bool first(TaskId task) const { return before_[task] == kNone; }

 private:
  static bool has(const std::vector<uint64_t>& bits, TaskId task) {
    return (bits[task / Closure::kWordBits] >> (task % Closure::kWordBits) & 1) != 0;
  }
  static void flip(std::vector<uint64_t>& bits, TaskId task) {
    bits[task / Closure::kWordBits] ^= uint64_t{1} << (task % Closure::kWordBits);
  }

  /// Augments along edges without reduced cost until no path is left.
  void grow() {
    for (bool grew = true; grew;) {
      grew = false;
      std::fill(unseen_.begin(), unseen_.end(), ~uint64_t{0});
      for (const TaskId task : closure_.order())
        if (next_[task] == kNone) grew = augment(task) || grew;
    }
  }

  bool augment(TaskId task) {
    for (const TaskId to : closure_.reduction()[task])
      if (has(unseen_, to) && costly_task_[task] == has(costly_next_, to) && take(task, to)) return true;
    if (costly_task_[task]) return false;
    const auto after = closure_.after(task);
    for (size_t word = 0; word < after.size(); ++word)
      while (const uint64_t found = after[word] & costly_next_[word] & unseen_[word])
        if (take(task, static_cast<TaskId>(word * Closure::kWordBits + static_cast<size_t>(std::countr_zero(found)))))
          return true;
    return false;
  }

  /// Puts `to` behind a task if the one before it finds another.
  bool take(TaskId task, TaskId to) {
    flip(unseen_, to);
    if (before_[to] != kNone && !augment(before_[to])) return false;
    next_[task] = to;
    before_[to] = task;
    return true;
  }

  /// The potential of a task, and of a task as the next one of another, is the cost of the cheapest path to it from one
  /// without a next task, but at most 1. It is 0 where alternating paths of the reduction lead.
  void find_potentials() {
    std::fill(costly_next_.begin(), costly_next_.end(), ~uint64_t{0});
    std::vector<TaskId> queue;
    for (const TaskId task : closure_.order()) {
      costly_task_[task] = next_[task] != kNone;
      if (!costly_task_[task]) queue.push_back(task);
    }
    for (size_t i = 0; i < queue.size(); ++i)
      for (const TaskId to : closure_.reduction()[queue[i]]) {
        if (!has(costly_next_, to)) continue;
        flip(costly_next_, to);
        costly_task_[before_[to]] = false;
        queue.push_back(before_[to]);
      }
  }

  const Closure& closure_;
  std::vector<TaskId> next_;
  std::vector<TaskId> before_;
  std::vector<bool> costly_task_;      // has potential 1
  std::vector<uint64_t> costly_next_;  // bits: has potential 1 as a next task
  std::vector<uint64_t> unseen_;       // bits: as a next task, in this round
};

}  // namespace

std::vector<std::vector<TaskId>> path_cover(const Closure& closure, size_t task_limit) {
  ChainMatching matching(closure, task_limit);
  matching.run();
  std::vector<std::vector<TaskId>> chains;
  for (const TaskId first : closure.order()) {
    if (!matching.first(first)) continue;
    chains.emplace_back();
    for (TaskId task = first; task != kNone; task = matching.next(task)) chains.back().push_back(task);
  }
  return chains;
}

}  // namespace isomer
