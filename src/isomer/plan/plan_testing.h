#pragma once
// Random programs, and all executions of a plan, for tests.

#include <optional>
#include <set>

#include "isomer/base/rng.h"
#include "isomer/plan/memory_plan.h"
#include "isomer/plan/stream_plan.h"

namespace isomer {

/// Tasks in the order of the program, and what they do with memory. Parts of buffers are cells of kArenaAlignment
/// bytes.
struct RandomProgram {
  TaskGraph graph;  ///< with an edge wherever two accesses need their order
  MemoryAccesses memory;

  RandomProgram(Rng& rng, size_t tasks) {
    const size_t resources = 1 + rng.below(3);
    for (size_t i = 0; i < resources; ++i)
      graph.add_resources({{graph.add_resource("core", 1 + static_cast<uint32_t>(rng.below(2)))}});
    std::vector<uint64_t> written;  // cells of each buffer, from the first
    std::vector<uint64_t> cells;
    for (TaskId task = 0; task < tasks; ++task) {
      graph.add_task({1 + static_cast<Nanoseconds>(rng.below(5)), static_cast<ResourceSetId>(rng.below(resources))});
      const size_t before = cells.size();
      for (size_t i = rng.below(3); i > 0 && before > 0; --i) {
        const auto buffer = static_cast<uint32_t>(before - 1 - rng.below(std::min<size_t>(before, 4)));
        memory.accesses.push_back({task, buffer, false, 0, written[buffer]});
      }
      const auto buffer = static_cast<uint32_t>(before == 0 ? 0 : before - 1 - rng.below(std::min<size_t>(before, 3)));
      if (before > 0 && written[buffer] < cells[buffer] && rng.below(2) == 0) {
        memory.accesses.push_back({task, buffer, true, written[buffer], cells[buffer]});
        written[buffer] = cells[buffer];
      } else if (before > 0 && rng.below(5) == 0) {  // in place
        memory.accesses.push_back({task, buffer, false, 0, written[buffer]});
        memory.accesses.push_back({task, buffer, true, 0, written[buffer]});
      } else {
        cells.push_back(1 + rng.below(3));
        written.push_back(1 + rng.below(cells.back()));
        memory.bytes.push_back(cells.back() * kArenaAlignment - rng.below(kArenaAlignment));
        memory.accesses.push_back({task, static_cast<uint32_t>(before), true, 0, written.back()});
      }
    }
    for (const Access& later : memory.accesses)
      for (const Access& first : memory.accesses)
        if (first.task < later.task && first.buffer == later.buffer && (first.write || later.write) &&
            first.begin < later.end && later.begin < first.end)
          graph.add_edge(first.task, later.task);
  }
};

/// Tries all executions of a plan: all orders in which tasks start and end. For a handful of tasks.
class Executions {
 public:
  Executions(const TaskGraph& graph, const MemoryAccesses& memory, const ArenaLayout& layout, const StreamPlan& plan)
      : graph_(graph), memory_(memory), layout_(layout), plan_(plan), state_(graph.task_limit(), 0) {
    // What each task reads and writes if all run one after the other.
    std::vector<std::vector<TaskId>> contents(memory.bytes.size(), std::vector<TaskId>(8, kNothing));
    for (const Access& access : memory.accesses)
      for (uint64_t cell = access.begin; cell < access.end; ++cell) {
        if (!access.write) expected_.insert({access.task, access.buffer, cell, contents[access.buffer][cell]});
        if (access.write) contents[access.buffer][cell] = access.task;
      }
    cells_.assign(layout.bytes / kArenaAlignment + 8, kNothing);
    run();
  }

  bool some() const { return some_; }                    ///< whether there is an execution: no deadlock
  bool breaks_edges() const { return breaks_edges_; }    ///< a task starts before a predecessor has ended
  bool spoils_memory() const { return spoils_memory_; }  ///< a task reads another content than one after the other

 private:
  static constexpr TaskId kNothing = UINT32_MAX;
  struct Expected {
    TaskId task;
    uint32_t buffer;
    uint64_t cell;
    TaskId writer;
    friend auto operator<=>(const Expected&, const Expected&) = default;
  };

  bool may_start(TaskId task) const {
    for (const std::vector<TaskId>& stream : plan_.streams)
      for (size_t i = 1; i < stream.size(); ++i)
        if (stream[i] == task && state_[stream[i - 1]] != 2) return false;
    for (const Synchronization& one : plan_.synchronizations)
      if (one.after == task && state_[one.before] != 2) return false;
    return true;
  }

  size_t place(uint32_t buffer, uint64_t cell) const { return layout_.offsets[buffer] / kArenaAlignment + cell; }

  bool writes(TaskId task, size_t place) const {
    for (const Access& access : memory_.accesses)
      if (access.task == task && access.write && place >= this->place(access.buffer, access.begin) &&
          place < this->place(access.buffer, access.end))
        return true;
    return false;
  }

  /// A task may read and write at any time while it runs: it reads at both ends, and its cells are spoiled from its
  /// start to its end.
  void access(TaskId task, bool at_end) {
    for (const Expected& one : expected_) {
      if (one.task != task) continue;
      const size_t where = place(one.buffer, one.cell);
      if (at_end && writes(task, where)) continue;
      if (cells_[where] != one.writer) spoils_memory_ = true;
    }
    for (size_t where = 0; where < cells_.size(); ++where) {
      if (!writes(task, where)) continue;
      const TaskId running = kNothing - 1 - task;
      if (at_end && cells_[where] != running) spoils_memory_ = true;
      cells_[where] = at_end ? task : running;
    }
  }

  void run() {
    if (breaks_edges_ && spoils_memory_ && some_) return;
    bool all = true;
    for (TaskId task = 0; task < state_.size(); ++task) {
      if (state_[task] == 2) continue;
      all = false;
      if (state_[task] == 0 && !may_start(task)) continue;
      if (state_[task] == 0)
        for (const TaskId before : graph_.predecessors(task))
          if (state_[before] != 2) breaks_edges_ = true;
      const std::vector<TaskId> saved = cells_;
      access(task, state_[task] == 1);
      ++state_[task];
      run();
      --state_[task];
      cells_ = saved;
    }
    some_ = some_ || all;
  }

  const TaskGraph& graph_;
  const MemoryAccesses& memory_;
  const ArenaLayout& layout_;
  const StreamPlan& plan_;
  std::set<Expected> expected_;
  std::vector<int> state_;     // 0: waits, 1: runs, 2: has ended
  std::vector<TaskId> cells_;  // who wrote each
  bool some_ = false;
  bool breaks_edges_ = false;
  bool spoils_memory_ = false;
};

}  // namespace isomer
