#pragma once
// Puts the kernels of a program on several streams, which run at the same time.

#include <map>
#include <span>
#include <vector>

#include "isomer/engine/onednn/program.h"
#include "isomer/plan/decisions.h"
#include "isomer/plan/memory_accesses.h"

namespace isomer::onednn {

/// Returns the kernels as tasks of these durations, in microseconds. A kernel comes after the earlier ones with which
/// it shares a part of a buffer that one of the two writes. Buffers of the arena do not share bytes here.
TaskGraph tasks_of(const Program& program, std::span<const double> durations);

/// Returns what the kernels do with the buffers of the arena, numbered by `ids`, which it fills.
MemoryAccesses arena_accesses(const Program& program, std::vector<BufferId>& ids);

/// Returns for each group of a program whose kernels have one thread how many threads its kernels should have, if at
/// most `streams` kernels run at the same time: 1, or as many as there are streams (choose_stages). `teams` are those
/// decided about values of the program's graph.
std::vector<int> threads_by_group(const Program& program, const std::map<ValueId, Team>& teams, size_t streams);

/// Puts the kernels of a program on at most `streams` streams, with as few synchronizations as that allows, and lays
/// out its arena anew: a buffer is reused only when all kernels that access it have ended. A kernel with several
/// threads starts when all before it have ended, and ends before all after it start. If no two kernels may run at the
/// same time and all have one thread, the program stays as it is.
Status order_on_streams(Program& program, size_t streams);

/// Returns about how long the kernels of a program take in so many threads each, in microseconds, from their FLOPs and
/// the bytes that they touch. Nothing is measured, so that a program has the same streams and the same arena each time.
std::vector<double> estimated_durations(const Program& program, size_t threads);

}  // namespace isomer::onednn
