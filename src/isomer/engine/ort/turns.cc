#include "isomer/engine/ort/turns.h"

#include <algorithm>
#include <map>

namespace isomer {

KernelAccess access_of(const KernelRun& run) {
  KernelAccess out{.distance = run.weights.distance};
  for (ValueId value = 0; value < run.graph.num_values(); ++value) {
    const int times = run.graph.producer_node(value).is_input() ? 2 : 1;
    out.bytes += times * static_cast<double>(Tensor::byte_size(run.graph.type(value)).value_or(0));
  }
  return out;
}

std::vector<Turn> pack_turns(std::span<const std::optional<KernelAccess>> kernels) {
  constexpr double kLeastDistance = 4 << 20;
  struct Open {
    size_t turn;
    double bytes = 0;
  };
  std::vector<Turn> turns;
  std::map<double, Open> open;  // the last turn of each distance
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!kernels[i]) continue;
    const double distance = std::max(kernels[i]->distance, kLeastDistance), bytes = kernels[i]->bytes;
    auto last = open.find(distance);
    if (last == open.end() || last->second.bytes + bytes > distance) {
      last = open.insert_or_assign(distance, Open{turns.size()}).first;
      turns.emplace_back();
    }
    Turn& turn = turns[last->second.turn];
    last->second.bytes += bytes;
    turn.kernels.push_back(i);
    const auto count = static_cast<double>(turn.kernels.size());
    turn.evicted = distance - last->second.bytes * (count - 1) / count;
  }
  return turns;
}

}  // namespace isomer
