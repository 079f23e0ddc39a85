#pragma once
// What Strassen's algorithm multiplies, and the first factors of its products.

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/ranges.h"
#include "isomer/engine/onednn/row_kernel.h"
#include "isomer/engine/onednn/strassen.h"

namespace isomer::onednn::strassen {

/// A quarter of a matrix: the first or second half of the rows, and of the columns.
enum Quarter : uint8_t { k11, k12, k21, k22 };
constexpr bool is_lower(Quarter quarter) { return quarter >= k21; }
constexpr bool is_right(Quarter quarter) { return quarter == k12 || quarter == k22; }

/// A quarter, or the sum of it and `sign` times another one.
struct Factor {
  Quarter first;
  Quarter second = k11;
  int sign = 0;  // 0: no other one
};
/// Where a product of two factors is added: to one or two quarters of the result.
struct Update {
  Quarter quarter = k11;
  int sign = 0;  // 0: no update
};
struct QuarterProduct {
  Factor a, b;
  Update updates[2];
};
inline constexpr QuarterProduct kProducts[] = {
    {{k11, k22, 1}, {k11, k22, 1}, {{k11, 1}, {k22, 1}}},  //
    {{k21, k22, 1}, {k11}, {{k21, 1}, {k22, -1}}},         //
    {{k11}, {k12, k22, -1}, {{k12, 1}, {k22, 1}}},         //
    {{k22}, {k21, k11, -1}, {{k11, 1}, {k21, 1}}},         //
    {{k11, k12, 1}, {k22}, {{k11, -1}, {k12, 1}}},         //
    {{k21, k11, -1}, {k11, k12, 1}, {{k22, 1}}},           //
    {{k12, k22, -1}, {k21, k22, 1}, {{k11, 1}}},           //
};
inline constexpr int64_t kCount = std::size(kProducts);

/// Returns how often products before this one are added to a quarter.
constexpr int updates_before(int64_t product, Quarter quarter) {
  int count = 0;
  for (int64_t p = 0; p < product; ++p)
    for (const Update& update : kProducts[p].updates) count += update.sign != 0 && update.quarter == quarter ? 1 : 0;
  return count;
}

inline constexpr int64_t kRowsOfPart = 200;    // at once, so that sums of them stay in a cache
inline constexpr int64_t kInnerOfPart = 1536;  // likewise

/// A part of a product: some rows of an image, and a range of the inner extent.
struct Part {
  int64_t image;
  Range rows, inner;

  /// Rows in the upper half, and in the lower one, which may have one row less.
  int64_t upper() const { return divided_up(rows.size(), 2); }
  int64_t lower() const { return rows.size() - upper(); }
  int64_t depth() const { return inner.size() / 2; }
};

/// Returns the number of matrices that are multiplied, one after the other: images of a batch, so that none affects
/// another; and the rows of each.
inline int64_t images_of(const StrassenProduct& product) {
  return product.pixels == 0 ? 1 : product.rows / product.pixels;
}
inline int64_t rows_of(const StrassenProduct& product) { return product.pixels == 0 ? product.rows : product.pixels; }

/// Where the elements of the matrix of an image are.
struct BlockedMatrix {
  int64_t block;  // adjacent columns
  int64_t row_stride, block_stride;
  int64_t start;

  BlockedMatrix(const StrassenProduct& product, int64_t columns, int64_t image)
      : block(product.pixels == 0 ? columns : native_block()),
        row_stride(block),
        block_stride(rows_of(product) * block),
        start(image * rows_of(product) * columns) {}

  int64_t of_row(int64_t row) const { return start + row * row_stride; }
  int64_t of_column(int64_t column) const { return column / block * block_stride + column % block; }
};

inline int64_t inner_parts(const StrassenProduct& product) { return divided_up(product.inner, kInnerOfPart); }
inline Range inner_part(const StrassenProduct& product, int64_t index) {
  const int64_t unit = product.pixels == 0 ? 2 : 2 * native_block();
  return Range{0, product.inner}.part(index, inner_parts(product), unit);
}
inline int64_t panels_of(const StrassenProduct& product) { return product.columns / 2 / panel_columns(); }

/// How the first factor of a product lies: blocks of columns, one after the other, each of all rows.
struct FactorLayout {
  int64_t rows, depth;
  int64_t block;  // adjacent columns

  FactorLayout(const StrassenProduct& product, const Part& part)
      : rows(part.upper()), depth(part.depth()), block(product.pixels == 0 ? depth : native_block()) {}
  int64_t size() const { return rows * depth; }
  int64_t block_rows() const { return size() / block; }
};

/// Returns the power of two by which numbers of at most this magnitude are multiplied, to be near 1; NaN if it is not
/// finite.
float scale_for(float max);
/// Sets the scales of rows of a row-major matrix. That of a row with an infinite element, or a NaN, is NaN.
void scale_rows(const StrassenProduct& product, const float* a, const Range& rows, float* scales);

/// Makes rows of blocks of the first factor of a product. `scales`: those of all rows; nullptr: they are 1. Rows whose
/// scale is NaN count as zeros.
void make_factor(const StrassenProduct& product, const Part& part, const Factor& factor, const float* a,
                 const float* scales, const Range& block_rows, float* to);

}  // namespace isomer::onednn::strassen
