#pragma once
// The independent checker of plans. It shares only data types with the code that makes plans.

#include "isomer/plan/arena.h"
#include "isomer/plan/memory_accesses.h"
#include "isomer/plan/schedule.h"
#include "isomer/plan/stream_plan.h"

namespace isomer {

/// A reason why a plan is wrong, in words that name the tasks, buffers and resources.
struct PlanFault {
  enum class Kind : uint8_t {
    Tasks,     ///< a task is on no stream, or on several, or does not exist
    Deadlock,  ///< tasks wait for one another
    Order,     ///< a task may start before another has ended on which it depends
    Race,      ///< two accesses of a buffer, one of which writes, may happen in the wrong order or at the same time
    Memory,    ///< two buffers that are in use at the same time share bytes, or one is outside of the memory
    Time,      ///< a task does not take its duration, or starts too early
    Resource,  ///< tasks occupy more units of a resource than there are
  };
  Kind kind = Kind::Tasks;
  std::string message;
};

/// Checks that a plan runs each task of a graph once, without a deadlock, and never before its predecessors have ended.
/// Returns all faults; none if the plan is correct. If tasks are missing or wait for one another, only these faults.
std::vector<PlanFault> check_order(const TaskGraph& graph, const StreamPlan& plan);

/// Checks that a plan keeps the order of all accesses of the same part of a buffer of which one writes (Bernstein's
/// conditions), that no part is read that nothing wrote, and that the places of buffers that may be in use at the same
/// time do not overlap. Every task is below `task_limit`; others are faults. Returns all faults, as check_order() does;
/// of each read, only the first part that nothing wrote. Memory: the square of `task_limit`, in bits.
std::vector<PlanFault> check_memory(const MemoryAccesses& memory, const ArenaLayout& layout, const StreamPlan& plan,
                                    size_t task_limit);

/// Checks that all tasks of a graph have times, that each starts when its predecessors have ended, and that no resource
/// is occupied beyond its units. Returns all faults.
std::vector<PlanFault> check_schedule(const TaskGraph& graph, const Schedule& schedule);

}  // namespace isomer
