#pragma once
// The innermost loop of products of a few rows by packed weights. The weights are packed in panels: four vectors of
// each row, row by row, so that they are read in one stream.

#include <cstdint>
#include <utility>

#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {

inline constexpr int64_t kPanelVectors = 4;
/// Returns the number of columns of a panel.
int64_t panel_columns();

/// The number of rows whose products with a panel fit into the registers.
template <class Vector>
inline constexpr int kRowsAtOnce = sizeof(Vector) == 64 ? 6 : 3;

/// Adds the products of kRows rows of A, which are `stride` apart, with a panel of as many rows of weights.
template <class Vector, int kRows>
ISOMER_INLINE void add_products(const float* a, int64_t stride, const float* weights,
                                Vector (&sums)[kRows][kPanelVectors]) {
  constexpr int64_t kAhead = 1024;  // floats of weights that are prefetched if arithmetic may delay reading
  // Where all indices are known, an array stays in registers.
  Vector in_registers[kRows][kPanelVectors];
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int64_t v = 0; v < kPanelVectors; ++v) in_registers[r][v] = sums[r][v];
  for (int64_t k = 0; k < stride; ++k, weights += kPanelVectors * kLanes<Vector>) {
    Vector w[kPanelVectors];
#pragma GCC unroll 4
    for (int64_t v = 0; v < kPanelVectors; ++v) {
      load(w[v], weights + v * kLanes<Vector>);
      if (kRows > 1) __builtin_prefetch(weights + v * kLanes<Vector> + kAhead);
    }
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) add_scaled<Vector>(in_registers[r], w, a[r * stride + k]);
  }
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int64_t v = 0; v < kPanelVectors; ++v) sums[r][v] = in_registers[r][v];
}

/// Calls work.operator()<kRows>(first row) for groups of rows that fit into the registers, all of about the same size.
template <class Vector, class Work>
ISOMER_INLINE void by_rows(int64_t rows, const Work& work) {
  const int64_t groups = (rows + kRowsAtOnce<Vector> - 1) / kRowsAtOnce<Vector>;
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t first = rows * group / groups, count = rows * (group + 1) / groups - first;
    const auto of_count = [&]<int... kRows>(std::integer_sequence<int, kRows...>) __attribute__((always_inline)) {
      (..., (count == kRows + 1 ? work.template operator()<kRows + 1>(first) : void()));
    };
    of_count(std::make_integer_sequence<int, kRowsAtOnce<Vector>>());
  }
}

}  // namespace isomer::onednn
