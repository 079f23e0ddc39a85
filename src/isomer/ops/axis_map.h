#pragma once
// Kernels that read their operand through one table of positions per axis (slices, pads, crops).

#include "isomer/ops/kernel.h"

namespace isomer {

/// For each axis, the position of the operand that each position of the result reads. kOutside means the fill element.
using AxisMaps = std::vector<std::vector<int64_t>>;
constexpr int64_t kOutside = -1;

/// Writes the result that `maps` describe. The size of `to` must match the maps and be at least one.
template <class T>
void read_through(const Tensor& x, const AxisMaps& maps, const T& fill, std::span<T> to) {
  const auto from = elements<T>(x);
  const auto strides = strides_of(x.dims());
  const size_t rank = maps.size();
  std::vector<size_t> position(rank, 0);
  std::vector<int64_t> offset(rank + 1, 0);  // of the axes before each; kOutside after the first one that is outside
  size_t changed = 0;
  for (T& element : to) {
    for (size_t axis = changed; axis < rank; ++axis) {
      const int64_t at = maps[axis][position[axis]];
      const bool outside = at == kOutside || offset[axis] == kOutside;
      offset[axis + 1] = outside ? kOutside : offset[axis] + at * strides[axis];
    }
    element = offset[rank] == kOutside ? fill : from[static_cast<size_t>(offset[rank])];
    for (changed = rank; changed-- > 0;) {
      if (++position[changed] < maps[changed].size()) break;
      position[changed] = 0;
    }
  }
}

}  // namespace isomer
