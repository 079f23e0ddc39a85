#pragma once
// What our kernels of Winograd's algorithm share: its points, tiles, and the transformation of the image.

#include <algorithm>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/ranges.h"
#include "isomer/engine/onednn/vectors.h"
#include "isomer/engine/onednn/winograd.h"

namespace isomer::onednn::winograd {

inline constexpr int kTile = 4, kWindow = 3;  // rows and columns
inline constexpr int kSide = kTile + kWindow - 1;
inline constexpr int64_t kPoints = int64_t{kSide} * kSide;
inline constexpr int64_t kElements = int64_t{kWindow} * kWindow;  // of a window

// The points 0, a, -a, b, -b and infinity, where b = 2 a. Half and twice the square root of 2, rounded so that all
// constants are exact: the error is a third of that with the points 1 and 2.
inline constexpr double kA = 11. / 16, kB = 2 * kA;
inline constexpr double kA2 = kA * kA, kB2 = kB * kB;

/// A vector of constants. They are floats, so that vectors stay vectors of floats.
ISOMER_INLINE constexpr float f32(double exact) { return static_cast<float>(exact); }

/// Transforms the image along one axis.
template <class Vector>
ISOMER_INLINE void transform_image(const Vector* d, Vector* points) {
  const Vector even_a = d[4] - f32(kB2) * d[2], odd_a = d[3] - f32(kB2) * d[1];
  const Vector even_b = d[4] - f32(kA2) * d[2], odd_b = d[3] - f32(kA2) * d[1];
  points[0] = f32(kA2 * kB2) * d[0] - f32(kA2 + kB2) * d[2] + d[4];
  points[1] = even_a + f32(kA) * odd_a;
  points[2] = even_a - f32(kA) * odd_a;
  points[3] = even_b + f32(kB) * odd_b;
  points[4] = even_b - f32(kB) * odd_b;
  points[5] = f32(kA2 * kB2) * d[1] - f32(kA2 + kB2) * d[3] + d[5];
}

/// The vector for blocks of channels: 16 channels with AVX-512, otherwise 8, even if that is two vectors. (Clang 14
/// needs the "typename".)
template <class Vector>
using Block = typename VectorOf<std::max<int>(sizeof(Vector), 32)>::Type;  // NOLINT(readability-redundant-typename)

/// Tiles of the results of all images, which are transformed in batches.
struct TileGrid {
  int64_t block;             // channels
  int64_t rows, columns;     // tiles
  int64_t tiles;             // of all images
  int64_t depth;             // blocks of channels of the image
  int64_t out_depth;         // of the result
  int64_t batch = 0;         // tiles
  int64_t image_stride = 0;  // floats between the points of a transformed batch

  explicit TileGrid(const WinogradConv& conv)
      : block(native_block()),
        rows(divided_up(conv.out_height, kTile)),
        columns(divided_up(conv.out_width, kTile)),
        tiles(conv.images * rows * columns),
        depth(conv.channels / block),
        out_depth(conv.out_channels / block) {}

  /// Chooses batches of about equal size with at most this many tiles.
  void divide(int64_t max_batch) {
    batch = divided_up(tiles, divided_up(tiles, max_batch));
    image_stride = stride_of(depth);
  }
  /// Returns the floats between the points of a transformed batch: one block more than it has, so that the points are
  /// not in the same set of a cache.
  int64_t stride_of(int64_t blocks) const { return (blocks * batch + 1) * block; }
};

/// A tile's place, in rows and columns of the result.
class Tile {
 public:
  Tile(const TileGrid& grid, int64_t index)
      : rows_(grid.rows * kTile),
        columns_(grid.columns * kTile),
        image(index / (grid.rows * grid.columns)),
        y(index / grid.columns % grid.rows * kTile),
        x(index % grid.columns * kTile) {}
  void advance() {
    x += kTile;
    if (x < columns_) return;
    x = 0;
    y += kTile;
    if (y < rows_) return;
    y = 0;
    ++image;
  }

 private:
  int64_t rows_, columns_;

 public:
  int64_t image, y, x;
};

/// Transforms a batch of tiles of the image, to blocks by point, by block of channels, and by tile.
struct TransformImage {
  template <class Vector>
  static ISOMER_INLINE void run(const WinogradConv& conv, const TileGrid& grid, const Range& batch, const float* from,
                                float* to) {
    using Channels = Block<Vector>;
    constexpr int64_t kBlock = kLanes<Channels>;
    const int64_t plane = conv.height * conv.width * kBlock, stride = grid.image_stride;
    for (int64_t c = 0; c < grid.depth; ++c) {
      float* out = to + c * grid.batch * kBlock;
      Tile tile(grid, batch.begin);
      for (int64_t t = batch.begin; t < batch.end; ++t, out += kBlock, tile.advance())
        transform<Channels>(conv, tile, from + (tile.image * grid.depth + c) * plane, out, stride);
    }
  }

  template <class Channels>
  static ISOMER_INLINE void transform(const WinogradConv& conv, const Tile& tile, const float* plane, float* out,
                                      int64_t stride) {
    const int64_t top = tile.y - conv.top, left = tile.x - conv.left;
    const bool inside = top >= 0 && left >= 0 && top + kSide <= conv.height && left + kSide <= conv.width;
    Channels rows[kSide][kSide];
#pragma GCC unroll 6
    for (int64_t i = 0; i < kSide; ++i) {
      Channels d[kSide] = {};
      const float* const row = plane + ((top + i) * conv.width + left) * kLanes<Channels>;
      if (inside)
        for (int64_t j = 0; j < kSide; ++j) load(d[j], row + j * kLanes<Channels>);
      else if (top + i >= 0 && top + i < conv.height)
        for (int64_t j = std::max<int64_t>(-left, 0); j < std::min<int64_t>(conv.width - left, kSide); ++j)
          load(d[j], row + j * kLanes<Channels>);
      transform_image(d, rows[i]);
    }
#pragma GCC unroll 6
    for (int64_t j = 0; j < kSide; ++j) {
      Channels d[kSide], points[kSide];
#pragma GCC unroll 6
      for (int64_t i = 0; i < kSide; ++i) d[i] = rows[i][j];
      transform_image(d, points);
      for (int64_t i = 0; i < kSide; ++i) store(out + (i * kSide + j) * stride, points[i]);
    }
  }
};

}  // namespace isomer::onednn::winograd
