#pragma once
// Which tasks of a stream plan end before others start, in every execution.

#include "isomer/plan/stream_plan.h"

namespace isomer {

/// The order that streams and synchronizations guarantee. Each task has a vector clock (Fidge 1988, Mattern 1989): how
/// many tasks at the beginning of each stream have ended when it starts. Memory is the number of tasks times that of
/// streams.
class HappensBefore {
 public:
  /// Each task of the plan is below `task_limit` and on one stream. An Error if a task is not, or if tasks wait for one
  /// another.
  static Result<HappensBefore> make(const StreamPlan& plan, size_t task_limit);

  /// Whether a task is on a stream of the plan.
  bool contains(TaskId task) const { return task < stream_.size() && stream_[task] != kNowhere; }
  size_t streams() const { return streams_; }
  /// The stream of a task of the plan.
  size_t stream(TaskId task) const { return stream_[task]; }
  /// The number of tasks before it on its stream.
  uint32_t position(TaskId task) const { return position_[task]; }
  /// For each stream, the number of its tasks that have ended when `task` starts.
  std::span<const uint32_t> clock(TaskId task) const { return std::span(clocks_).subspan(task * streams_, streams_); }
  /// Whether `before` ends before `after` starts in every execution; not for a task and itself.
  bool operator()(TaskId before, TaskId after) const { return clock(after)[stream_[before]] > position_[before]; }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;

  size_t streams_ = 0;
  std::vector<uint32_t> stream_;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> clocks_;
};

}  // namespace isomer
