#pragma once
// How tasks on several cores slow each other down.

#include <array>
#include <vector>

#include "isomer/plan/task_graph.h"

namespace isomer {

/// How much longer kernels take because of neighbors: kernels that run on other cores at the same time, or did so
/// before.
struct NeighborCosts {
  /// How many times as long a kernel takes while a neighbor runs, at least 1. The first index is of the kernel and the
  /// second of the neighbor: 0 if its core limits it, 1 if memory does, which all cores share.
  std::array<std::array<double, 2>, 2> slowdown = {{{1, 1}, {1, 1}}};
  double synchronization_us = 0;  ///< from the end of a kernel until one on another core can start
  double transfer_us = 0;         ///< reading a byte that another core wrote, compared with one of its own
  double memory_us = 0;           ///< reading a byte from memory
  double cache_us = 0;            ///< reading a byte from the cache that the cores share

  /// Returns the part of a kernel's time that is bound by memory, from 0 to 1, if it takes so long and has weights of
  /// so many bytes that are not in a cache of its core. Where the time is shorter than memory would take, the shared
  /// cache has some of them.
  double memory_share(double us, double weight_bytes) const;
};

/// The bytes that a task reads of another one's results.
struct TaskInput {
  TaskId from = 0;
  double bytes = 0;
};

/// Neighbors of the tasks of a graph, by task. Empty: none slow each other down.
struct Neighborhood {
  NeighborCosts costs = {};
  std::vector<double> memory_share = {};
  std::vector<std::vector<TaskInput>> inputs = {};

  /// Returns how many times as long a task takes while the other one runs.
  double slowdown(TaskId task, TaskId neighbor) const;
  /// Returns how much longer a task takes that is divided among so many cores, each of which made a part of its inputs.
  Nanoseconds transfer_among(TaskId task, size_t cores) const;
  /// Returns how long a part of a task takes, alone on its core, while the other cores run the other parts.
  Nanoseconds among_parts(TaskId task, Nanoseconds part, size_t cores) const;
  /// Returns about how long cores take to copy bytes from and to the shared cache together.
  Nanoseconds copying(double bytes, size_t cores) const;
};

}  // namespace isomer
