#include "isomer/ops/product.h"

#include <algorithm>
#include <vector>

namespace isomer {
namespace {

constexpr int64_t kRows = 4;  // of a tile, whose sums stay in registers
constexpr int64_t kColumns = 8;
constexpr int64_t kDepth = 256;         // of a block of b, which stays in the second cache
constexpr int64_t kBlockColumns = 256;  // a multiple of kColumns
constexpr int64_t kReported = 1024;     // rows between two progress reports; a multiple of kRows

/// Four doubles at any address.
using Four [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;

/// sums[r * stride + c] += Σ_k a[k * kRows + r] b[k * kColumns + c]
[[gnu::always_inline]] inline void add_tile(const double* a, const double* b, int64_t depth, double* sums,
                                            int64_t stride) {
  Four sum[kRows][2];
#pragma GCC unroll 4
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t half = 0; half < 2; ++half) sum[r][half] = *reinterpret_cast<Four*>(sums + r * stride + 4 * half);
  for (int64_t k = 0; k < depth; ++k, a += kRows, b += kColumns) {
    const Four left = *reinterpret_cast<const Four*>(b);
    const Four right = *reinterpret_cast<const Four*>(b + 4);
#pragma GCC unroll 4
    for (int64_t r = 0; r < kRows; ++r) {
      sum[r][0] += a[r] * left;
      sum[r][1] += a[r] * right;
    }
  }
#pragma GCC unroll 4
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t half = 0; half < 2; ++half) *reinterpret_cast<Four*>(sums + r * stride + 4 * half) = sum[r][half];
}

using AddTile = void (*)(const double* a, const double* b, int64_t depth, double* sums, int64_t stride);

void add_tile_anywhere(const double* a, const double* b, int64_t depth, double* sums, int64_t stride) {
  add_tile(a, b, depth, sums, stride);
}

#ifdef __x86_64__
/// AVX2 has no fused multiply-add.
[[gnu::target("avx2")]] void add_tile_avx2(const double* a, const double* b, int64_t depth, double* sums,
                                           int64_t stride) {
  add_tile(a, b, depth, sums, stride);
}
#endif

AddTile fastest_tile() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return add_tile_avx2;
#endif
  return add_tile_anywhere;
}

/// Packs lines `first` to `first + width` of a matrix, `depth` elements of each from `begin` on, position by position.
/// Lines beyond `lines` are filled with 0.
template <class T>
void pack(const T* data, int64_t line, int64_t step, int64_t first, int64_t lines, int64_t begin, int64_t depth,
          int64_t width, double* to) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t i = 0; i < width; ++i)
      *to++ = first + i < lines ? static_cast<double>(data[(first + i) * line + (begin + k) * step]) : 0;
}

}  // namespace

template <class T>
Status blocked_product(const ProductExtents& extents, const MatrixView<T>& a, const MatrixView<T>& b,
                       KernelProgress& progress, const TakeSums& take) {
  const auto& [rows, inner, columns] = extents;
  const AddTile add = fastest_tile();
  const int64_t padded_rows = (rows + kRows - 1) / kRows * kRows;
  std::vector<double> block(static_cast<size_t>(kDepth * kBlockColumns));
  std::vector<double> panel(static_cast<size_t>(kDepth * kRows));
  std::vector<double> sums(static_cast<size_t>(padded_rows * kBlockColumns));
  for (int64_t column = 0; column < columns; column += kBlockColumns) {
    const int64_t width = std::min(kBlockColumns, columns - column);
    std::ranges::fill(sums, 0.0);
    for (int64_t begin = 0; begin < inner; begin += kDepth) {
      const int64_t depth = std::min(kDepth, inner - begin);
      for (int64_t c = 0; c < width; c += kColumns)
        pack(b.data, b.column, b.row, column + c, columns, begin, depth, kColumns, block.data() + c * depth);
      for (int64_t row = 0; row < rows; row += kRows) {
        pack(a.data, a.row, a.column, row, rows, begin, depth, kRows, panel.data());
        for (int64_t c = 0; c < width; c += kColumns)
          add(panel.data(), block.data() + c * depth, depth, sums.data() + row * kBlockColumns + c, kBlockColumns);
        const int64_t done = std::min(rows, row + kRows);
        if (done % kReported == 0 || done == rows) {
          const int64_t reported = done == rows && rows % kReported != 0 ? rows % kReported : kReported;
          ISOMER_CHECK(progress.add(ProductExtents{reported, depth, width}.work()));
        }
      }
    }
    for (int64_t row = 0; row < rows; ++row)
      take(row, column, {sums.data() + row * kBlockColumns, static_cast<size_t>(width)});
  }
  return {};
}

template Status blocked_product(const ProductExtents&, const MatrixView<float>&, const MatrixView<float>&,
                                KernelProgress&, const TakeSums&);
template Status blocked_product(const ProductExtents&, const MatrixView<double>&, const MatrixView<double>&,
                                KernelProgress&, const TakeSums&);

}  // namespace isomer
