#pragma once
// Large matrix products of the reference kernels.

#include <functional>
#include <span>

#include "isomer/ops/kernel_deadline.h"

namespace isomer {

/// A matrix in memory. Element (i, j) is data[i * row + j * column].
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

/// Receives `sums`: consecutive elements of a row of the product, starting at `column`.
using TakeSums = std::function<void(int64_t row, int64_t column, std::span<const double> sums)>;

/// Computes Σ_k a[i, k] b[k, j] for all i and j, in blocks that fit into caches. Each sum starts from 0 and adds the
/// terms in order of k in double precision, without fused multiply-adds, as three plain loops would. The result is
/// therefore the same bit for bit on every processor. T is float or double. Fails if `progress` does.
template <class T>
Status blocked_product(const ProductExtents& extents, const MatrixView<T>& a, const MatrixView<T>& b,
                       KernelProgress& progress, const TakeSums& take);

}  // namespace isomer
