#include "isomer/plan/neighbors.h"

#include <algorithm>
#include <cmath>

namespace isomer {

double NeighborCosts::memory_share(double us, double weight_bytes) const {
  if (us <= 0 || memory_us <= cache_us) return 0;
  // Of x bytes from memory and the others from the cache: us = x memory_us + (weight_bytes - x) cache_us, or longer.
  const double from_memory = (us - weight_bytes * cache_us) / (memory_us - cache_us);
  return std::clamp(std::min(from_memory, weight_bytes) * memory_us / us, 0.0, 1.0);
}

double Neighborhood::slowdown(TaskId task, TaskId neighbor) const {
  if (memory_share.empty()) return 1;
  const auto shares = [&](TaskId of) { return std::array{1 - memory_share[of], memory_share[of]}; };
  const auto own = shares(task), other = shares(neighbor);
  double out = 0;
  for (size_t a = 0; a < own.size(); ++a)
    for (size_t b = 0; b < other.size(); ++b) out += own[a] * other[b] * costs.slowdown[a][b];
  return out;
}

Nanoseconds Neighborhood::transfer_among(TaskId task, size_t cores) const {
  if (inputs.empty()) return 0;
  double bytes = 0;
  for (const TaskInput& input : inputs[task]) bytes += input.bytes;
  // Each core reads its part, all but one part of which others made.
  const auto parts = static_cast<double>(cores);
  return std::llround(1e3 * costs.transfer_us * bytes / parts * (parts - 1) / parts);
}

Nanoseconds Neighborhood::among_parts(TaskId task, Nanoseconds part, size_t cores) const {
  const double slower = (slowdown(task, task) - 1) * static_cast<double>(cores - 1);
  return part + std::llround(static_cast<double>(part) * slower);
}

Nanoseconds Neighborhood::copying(double bytes, size_t cores) const {
  return std::llround(1e3 * 2 * costs.cache_us * bytes / static_cast<double>(cores));  // each is read and written
}

}  // namespace isomer
