#include "isomer/engine/onednn/winograd_filters.h"

#include <algorithm>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/winograd_tiles.h"

namespace isomer::onednn {
namespace winograd {
namespace {

constexpr int64_t kMaxTiles = 128;                 // of a batch
constexpr int64_t kTransformedBytes = 10'000'000;  // of a batch
constexpr int64_t kSumsBytes = 1'200'000;          // of a group of channels
constexpr int64_t kMaxBytesOfParts = 64 << 20;     // of the sums of all parts

/// Transforms the result's gradient along one axis.
template <class Vector>
ISOMER_INLINE void transform_gradient(const Vector* y, Vector* points) {
  const Vector even_a = y[0] + f32(kA2) * y[2], odd_a = f32(kA) * (y[1] + f32(kA2) * y[3]);
  const Vector even_b = y[0] + f32(kB2) * y[2], odd_b = f32(kB) * (y[1] + f32(kB2) * y[3]);
  points[0] = y[0];
  points[1] = even_a + odd_a;
  points[2] = even_a - odd_a;
  points[3] = even_b + odd_b;
  points[4] = even_b - odd_b;
  points[5] = y[3];
}

/// Transforms sums of products to a filter along one axis.
template <class Vector>
ISOMER_INLINE void transform_sums(const Vector* points, Vector* w) {
  constexpr double kOfA = 1 / (2 * kA2 * (kA2 - kB2)), kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const Vector sum_a = f32(kOfA) * (points[1] + points[2]), difference_a = f32(kOfA * kA) * (points[1] - points[2]);
  const Vector sum_b = f32(kOfB) * (points[3] + points[4]), difference_b = f32(kOfB * kB) * (points[3] - points[4]);
  w[0] = f32(1 / (kA2 * kB2)) * points[0] + sum_a + sum_b;
  w[1] = difference_a + difference_b;
  w[2] = f32(kA2) * sum_a + f32(kB2) * sum_b + points[5];
}

/// How the work is divided: by tiles, each part with sums of its own; or by channels of the result if there are more of
/// these, or if the sums would take too much memory. If one batch has all tiles, filters are finished for a few
/// channels of the result after the other, so that their sums stay in a cache.
struct FilterDivision : TileGrid {
  int64_t gradient_stride = 0;  // floats between the points of a transformed batch of the gradient
  int64_t parts;
  bool by_tiles;
  int64_t group;  // blocks of channels of the result whose sums are kept
  int64_t sums;   // floats of the sums of a point of a group

  FilterDivision(const WinogradConv& conv, int of) : TileGrid(conv), parts(of) {
    constexpr int64_t kBytes = kPoints * int64_t{sizeof(float)};
    const int64_t of_block = kBytes * block * conv.channels;
    by_tiles = parts > 1 && tiles >= conv.out_channels && parts * out_depth * of_block <= kMaxBytesOfParts;
    divide(std::clamp<int64_t>(kTransformedBytes / (kBytes * (conv.channels + conv.out_channels)), 16, kMaxTiles));
    gradient_stride = stride_of(out_depth);
    const int64_t most = by_tiles ? out_depth : divided_up(out_depth, parts);
    group = batch < tiles || by_tiles ? most : std::clamp<int64_t>(kSumsBytes / of_block, 1, most);
    sums = group * block * conv.channels;
  }

  /// Returns the floats of scratch memory of one part: the transformed image, the gradient, and sums.
  int64_t scratch() const { return kPoints * (image_stride + gradient_stride + sums); }
  Range tiles_of(int64_t part) const {
    return by_tiles ? Range{tiles * part / parts, tiles * (part + 1) / parts} : Range{0, tiles};
  }
  Range blocks_of(int64_t part) const {
    return by_tiles ? Range{0, out_depth} : Range{out_depth * part / parts, out_depth * (part + 1) / parts};
  }
};

/// Transforms a batch of tiles of the gradient, to blocks by point, by block of channels, and by tile.
struct TransformGradient {
  template <class Vector>
  static ISOMER_INLINE void run(const WinogradConv& conv, const FilterDivision& division, const Range& batch,
                                const Range& blocks, const float* from, float* to) {
    using Channels = Block<Vector>;
    constexpr int64_t kBlock = kLanes<Channels>;
    const int64_t plane = conv.out_height * conv.out_width * kBlock, stride = division.gradient_stride;
    for (int64_t k = blocks.begin; k < blocks.end; ++k) {
      float* out = to + k * division.batch * kBlock;
      Tile tile(division, batch.begin);
      for (int64_t t = batch.begin; t < batch.end; ++t, out += kBlock, tile.advance())
        transform<Channels>(conv, tile, from + (tile.image * division.out_depth + k) * plane, out, stride);
    }
  }

  template <class Channels>
  static ISOMER_INLINE void transform(const WinogradConv& conv, const Tile& tile, const float* plane, float* out,
                                      int64_t stride) {
    const int64_t height = std::min<int64_t>(conv.out_height - tile.y, kTile);
    const int64_t width = std::min<int64_t>(conv.out_width - tile.x, kTile);
    Channels rows[kTile][kSide];
#pragma GCC unroll 4
    for (int64_t i = 0; i < kTile; ++i) {
      Channels y[kTile] = {};
      if (i < height)
        for (int64_t j = 0; j < width; ++j)
          load(y[j], plane + ((tile.y + i) * conv.out_width + tile.x + j) * kLanes<Channels>);
      transform_gradient(y, rows[i]);
    }
#pragma GCC unroll 6
    for (int64_t j = 0; j < kSide; ++j) {
      Channels y[kTile], points[kSide];
#pragma GCC unroll 4
      for (int64_t i = 0; i < kTile; ++i) y[i] = rows[i][j];
      transform_gradient(y, points);
      for (int64_t i = 0; i < kSide; ++i) store(out + (i * kSide + j) * stride, points[i]);
    }
  }
};

/// Adds up the products of one point of a batch of tiles, or stores them if it is the first batch. The sums are by
/// channel of the result.
struct AccumulatePoint {
  template <class Vector>
  static ISOMER_INLINE void run(const FilterDivision& division, int64_t tiles, const Range& blocks, bool first,
                                const float* image, const float* gradient, float* sums) {
    constexpr int64_t kBlock = kLanes<Block<Vector>>;
    constexpr int kRows = sizeof(Vector) == 64 ? 8 : 4;
    const int64_t plane = division.batch * kBlock;
    for (int64_t row = blocks.begin * kBlock; row < blocks.end * kBlock; row += kRows) {
      const float* const rows = gradient + row / kBlock * plane + row % kBlock;
      float* const out = sums + (row - blocks.begin * kBlock) * division.depth * kBlock;
      int64_t c = 0;
      for (; c + 2 <= division.depth; c += 2)
        accumulate<Vector, kRows, 2>(division, tiles, first, image + c * plane, rows, out + c * kBlock);
      if (c < division.depth)
        accumulate<Vector, kRows, 1>(division, tiles, first, image + c * plane, rows, out + c * kBlock);
    }
  }

  template <class Vector, int kRows, int kWidth>
  static ISOMER_INLINE void accumulate(const FilterDivision& division, int64_t tiles, bool first, const float* image,
                                       const float* gradient, float* out) {
    using Channels = Block<Vector>;
    constexpr int64_t kBlock = kLanes<Channels>;
    Channels sums[kRows][kWidth] = {};
    for (int64_t t = 0; t < tiles; ++t, image += kBlock, gradient += kBlock) {
      Channels x[kWidth];
      for (int64_t v = 0; v < kWidth; ++v) load(x[v], image + v * division.batch * kBlock);
#pragma GCC unroll 8
      for (int64_t r = 0; r < kRows; ++r) add_scaled<Vector>(sums[r], x, gradient[r]);
    }
#pragma GCC unroll 8
    for (int64_t r = 0; r < kRows; ++r, out += division.depth * kBlock)
#pragma GCC unroll 2
      for (int64_t v = 0; v < kWidth; ++v) {
        Channels before = {};
        if (!first) load(before, out + v * kBlock);
        store(out + v * kBlock, before + sums[r][v]);
      }
  }
};

/// Adds up the sums of `sets` parts for some channels of the result, and transforms them to filters.
struct TransformSums {
  template <class Vector>
  static ISOMER_INLINE void run(const WinogradConv& conv, const FilterDivision& division, int64_t channels,
                                int64_t sets, const float* sums, float* filters) {
    using Channels = Block<Vector>;
    for (int64_t at = 0; at < channels * conv.channels; at += kLanes<Channels>) {
      Channels points[kPoints];
      for (int64_t p = 0; p < kPoints; ++p) {
        const float* const from = sums + p * division.sums + at;
        load(points[p], from);
        for (int64_t set = 1; set < sets; ++set) {
          Channels more;
          load(more, from + set * division.scratch());
          points[p] += more;
        }
      }
      transform(points, filters + at * kElements);
    }
  }

  template <class Channels>
  static ISOMER_INLINE void transform(const Channels* points, float* filters) {
    Channels rows[kSide][kWindow];
    for (int64_t i = 0; i < kSide; ++i) transform_sums(points + i * kSide, rows[i]);
    for (int64_t j = 0; j < kWindow; ++j) {
      Channels column[kSide], w[kWindow];
      for (int64_t i = 0; i < kSide; ++i) column[i] = rows[i][j];
      transform_sums(column, w);
      for (int64_t i = 0; i < kWindow; ++i)
        for (int64_t lane = 0; lane < kLanes<Channels>; ++lane)
          filters[lane * kElements + i * kWindow + j] = w[i][lane];
    }
  }
};

/// The work of a part: sums, and filters unless sums of other parts must be added.
void run_part(const WinogradConv& conv, const FilterDivision& division, int64_t part,
              const WinogradFilterArguments& arguments) {
  float* const image = arguments.scratch + part * division.scratch();
  float* const gradient = image + kPoints * division.image_stride;
  float* const sums = gradient + kPoints * division.gradient_stride;
  const Range tiles = division.tiles_of(part), all = division.blocks_of(part);
  const int64_t filter = division.block * conv.channels * kElements;  // floats of a block's filters
  for (int64_t at = all.begin; at < all.end; at += division.group) {
    const Range blocks{at, std::min(at + division.group, all.end)};
    if (tiles.begin == tiles.end) std::fill_n(sums, kPoints * division.sums, 0.0F);
    for (int64_t begin = tiles.begin; begin < tiles.end; begin += division.batch) {
      const Range batch{begin, std::min(begin + division.batch, tiles.end)};
      if (at == all.begin) {
        dispatch<TransformImage>(conv, division, batch, arguments.image, image);
        dispatch<TransformGradient>(conv, division, batch, all, arguments.gradient, gradient);
      }
      for (int64_t point = 0; point < kPoints; ++point)
        dispatch<AccumulatePoint>(division, batch.end - batch.begin, blocks, begin == tiles.begin,
                                  image + point * division.image_stride, gradient + point * division.gradient_stride,
                                  sums + point * division.sums);
    }
    if (!division.by_tiles)
      dispatch<TransformSums>(conv, division, (blocks.end - blocks.begin) * division.block, int64_t{1}, sums,
                              arguments.filters + at * filter);
  }
}

}  // namespace
}  // namespace winograd

int64_t winograd_filters_scratch(const WinogradConv& conv, int parts) {
  return parts * winograd::FilterDivision(conv, parts).scratch();
}

void run_winograd_filters(const WinogradConv& conv, const WinogradFilterArguments& arguments, int parts) {
  const winograd::FilterDivision division(conv, parts);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) winograd::run_part(conv, division, part, arguments);
  });
  if (!division.by_tiles) return;
  const float* const sums = arguments.scratch + winograd::kPoints * (division.image_stride + division.gradient_stride);
  const int64_t of_block = division.block * conv.channels;
  parallel_for(division.out_depth, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      dispatch<winograd::TransformSums>(conv, division, division.block, int64_t{parts}, sums + block * of_block,
                                        arguments.filters + block * of_block * winograd::kElements);
  });
}

}  // namespace isomer::onednn
