#include "isomer/plan/memory_plan.h"

namespace isomer {

Result<ArenaLayout> plan_memory(const MemoryAccesses& memory, const HappensBefore& order) {
  const size_t streams = order.streams();
  const size_t buffers = memory.bytes.size();
  // For each buffer and stream: how many tasks of the stream have ended whenever the buffer is accessed, and how many
  // have to end before it is free.
  std::vector<uint32_t> ended(buffers * streams, std::numeric_limits<uint32_t>::max());
  std::vector<uint32_t> needed(buffers * streams, 0);
  for (const Access& access : memory.accesses) {
    if (!order.contains(access.task)) return fail("task {} accesses memory and is on no stream", access.task);
    if (access.buffer >= buffers)
      return fail("task {} accesses buffer {}, which does not exist", access.task, access.buffer);
    const auto clock = order.clock(access.task);
    for (size_t stream = 0; stream < streams; ++stream) {
      uint32_t& first = ended[access.buffer * streams + stream];
      first = std::min(first, clock[stream]);
    }
    uint32_t& last = needed[access.buffer * streams + order.stream(access.task)];
    last = std::max(last, order.position(access.task) + 1);
  }
  const auto free_before = [&](size_t a, size_t b) {
    for (size_t stream = 0; stream < streams; ++stream)
      if (needed[a * streams + stream] > ended[b * streams + stream]) return false;
    return true;
  };
  return pack_arena(memory.bytes, [&](size_t a, size_t b) { return !free_before(a, b) && !free_before(b, a); });
}

}  // namespace isomer
