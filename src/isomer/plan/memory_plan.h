#pragma once
// Places the buffers of a program whose tasks are ordered only in part.

#include "isomer/plan/arena.h"
#include "isomer/plan/happens_before.h"
#include "isomer/plan/memory_accesses.h"

namespace isomer {

/// Returns places of the buffers in one block of memory. Two of them share bytes only if all accesses of one happen
/// before all accesses of the other, in every execution: a buffer is reused when all readers of its former content
/// have ended. On one stream, this is the layout by lifetimes. An Error if a task that accesses memory is on no stream
/// of `order`, or if it accesses a buffer that does not exist.
Result<ArenaLayout> plan_memory(const MemoryAccesses& memory, const HappensBefore& order);

}  // namespace isomer
