#pragma once
// Large matrix products of the reference kernels.

#include <functional>
#include <span>

#include "isomer/ops/kernel_deadline.h"

namespace isomer {

/// A matrix in memory: element (i, j) stands at data[i * row + j * column].
template <class T>
struct MatrixView {
  const T* data;
  int64_t row;
  int64_t column;
};

struct ProductExtents {
  int64_t rows, inner, columns;

  double work() const { return static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns); }
  /// Whether blocked_product is faster than three loops.
  bool large() const { return rows >= 8 && columns >= 8 && work() >= 64 * 64 * 64; }
};

/// Gets `sums`, the elements of a row of the product from a column on.
using TakeSums = std::function<void(int64_t row, int64_t column, std::span<const double> sums)>;

/// Σ_k a[i, k] b[k, j] for all i and j, in blocks that fit into caches. Each sum starts from 0 and adds the terms from
/// the first k to the last in double precision, without fused multiply-adds, as three plain loops would: it is the same
/// to the last bit, on every processor. T is float or double. Fails where `progress` does.
template <class T>
Status blocked_product(const ProductExtents& extents, const MatrixView<T>& a, const MatrixView<T>& b,
                       KernelProgress& progress, const TakeSums& take);

}  // namespace isomer
