#include "isomer/runtime/onednn/program.h"

#include <cstdlib>
#include <new>

#include "isomer/runtime/onednn/arena.h"

namespace isomer::onednn {

AlignedBytes::AlignedBytes(size_t bytes) : size_(bytes) {
  const size_t whole = (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kArenaAlignment, whole == 0 ? kArenaAlignment : whole)));
  if (data_ == nullptr) throw std::bad_alloc();
}

void AlignedBytes::Free::operator()(std::byte* data) const { std::free(data); }

std::byte* ConstantData::address() const {
  // oneDNN takes all arguments as writable; constants are never results.
  return tensor.empty() ? bytes.data() : const_cast<std::byte*>(tensor.bytes().data());
}

void place_in_arena(Program& program) {
  constexpr size_t kUnused = SIZE_MAX;
  std::vector<size_t> entry(program.buffers.size(), kUnused);  // of a buffer in `lifetimes`
  std::vector<Lifetime> lifetimes;
  std::vector<BufferId> ids;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    for (const BufferId id : program.kernels[k].buffers) {
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
