#pragma once
// Transitive closure and reduction of a task graph.

#include "isomer/plan/task_graph.h"

namespace isomer {

/// Which tasks come after which, as a matrix of bits: the square of the number of tasks.
class Closure {
 public:
  static constexpr size_t kWordBits = 64;

  /// An Error if the graph has a cycle.
  static Result<Closure> make(const TaskGraph& graph);

  /// All tasks, each after its predecessors.
  const std::vector<TaskId>& order() const { return order_; }
  /// The tasks that come after one, as bits.
  std::span<const uint64_t> after(TaskId task) const { return std::span(bits_).subspan(task * words_, words_); }
  bool leads(TaskId from, TaskId to) const { return (after(from)[to / kWordBits] >> (to % kWordBits) & 1) != 0; }
  /// For each task, the successors to which no other path leads: the smallest set of edges with this closure
  /// (the transitive reduction).
  const std::vector<std::vector<TaskId>>& reduction() const { return reduction_; }

 private:
  size_t words_ = 0;
  std::vector<TaskId> order_;
  std::vector<uint64_t> bits_;
  std::vector<std::vector<TaskId>> reduction_;
};

}  // namespace isomer
