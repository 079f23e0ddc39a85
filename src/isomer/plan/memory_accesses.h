#pragma once
// What the tasks of a program do with memory.

#include <limits>

#include "isomer/plan/task_graph.h"

namespace isomer {

/// A task reads or writes a part of a buffer.
struct Access {
  TaskId task = 0;
  uint32_t buffer = 0;
  bool write = false;
  /// The part, in a unit that all accesses of the buffer share: bytes, or indices of the axis along which results are
  /// concatenated. By default, all of it.
  uint64_t begin = 0;
  uint64_t end = std::numeric_limits<uint64_t>::max();
};

/// What a program does with its memory.
struct MemoryAccesses {
  /// By buffer. A buffer has one content: what its readers read, and what is changed in place.
  std::vector<size_t> bytes;
  /// In an order in which the program may run. Accesses of one task are neighbors.
  std::vector<Access> accesses;
};

}  // namespace isomer
