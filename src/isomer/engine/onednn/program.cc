#include "isomer/engine/onednn/program.h"

#include <algorithm>

#include "isomer/plan/arena.h"

namespace isomer::onednn {

namespace {

constexpr size_t kBlock = size_t{32} << 20;

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

std::byte* ConstantPool::allocate(size_t bytes) {
  const size_t whole = rounded(bytes, kArenaAlignment);
  if (blocks_.empty() || used_ + whole > blocks_.back().size()) {
    blocks_.emplace_back(std::max(kBlock, whole));
    used_ = 0;
  }
  used_ += whole;
  return blocks_.back().data() + used_ - whole;
}

std::byte* ConstantData::address() const {
  // OneDNN's arguments are all writable; constants are never results.
  return tensor.empty() ? pooled : const_cast<std::byte*>(tensor.bytes().data());
}

namespace {

Touch touch_of(const Location& at, bool write) {
  if (!at.desc) return {at.buffer, write};
  return {at.buffer, write, at.offset, at.offset + at.desc.get_size()};
}

}  // namespace

Touch read_of(const Location& at) { return touch_of(at, false); }
Touch write_of(const Location& at) { return touch_of(at, true); }

void place_in_arena(Program& program) {
  constexpr size_t kUnused = SIZE_MAX;
  std::vector<size_t> entry(program.buffers.size(), kUnused);  // of a buffer in `lifetimes`
  std::vector<Lifetime> lifetimes;
  std::vector<BufferId> ids;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    for (const Touch& touch : program.kernels[k].touches) {
      const BufferId id = touch.buffer;
      if (program.buffers[id].place != Place::Arena) continue;
      if (entry[id] == kUnused) {
        entry[id] = lifetimes.size();
        lifetimes.push_back({program.buffers[id].bytes, k, k});
        ids.push_back(id);
      }
      lifetimes[entry[id]].last = k;
    }
  }
  const ArenaLayout layout = pack_arena(lifetimes);
  for (size_t i = 0; i < ids.size(); ++i) program.buffers[ids[i]].index = layout.offsets[i];
  program.arena_bytes = layout.bytes;
}

}  // namespace isomer::onednn
