#pragma once
// What a stream plan orders, found by following every edge: for the checker only.

#include "isomer/plan/checker/check_plan.h"

namespace isomer {

/// The tasks that a plan orders, as sets of bits.
class Reachability {
 public:
  /// Reads a plan for `tasks` tasks and appends what is wrong with it to `faults`.
  Reachability(const StreamPlan& plan, size_t tasks, std::vector<PlanFault>& faults);

  bool on_a_stream(TaskId task) const { return task < places_.size() && !places_[task].empty(); }
  /// Whether a path leads from a task to another one.
  bool leads(TaskId from, TaskId to) const { return (bits_[from * words_ + to / 64] >> (to % 64) & 1) != 0; }
  /// The stream and the place of a task, for messages.
  std::string where(TaskId task) const { return "task " + std::to_string(task) + " (" + places_[task] + ")"; }

 private:
  /// Fills in the rows, given the tasks that come directly after each. One depth-first search, whatever the numbers of
  /// the tasks: it completes the strongly connected components, which are cycles or single tasks, after all that they
  /// lead to (Tarjan 1972, "Depth-First Search and Linear Graph Algorithms").
  void follow(const std::vector<std::vector<TaskId>>& next);
  void add_component(const std::vector<TaskId>& tasks, const std::vector<std::vector<TaskId>>& next);

  size_t words_ = 0;
  std::vector<std::string> places_;  // "place 3 of stream 1"
  std::vector<uint64_t> bits_;       // a row for each task: those that it leads to
};

}  // namespace isomer
