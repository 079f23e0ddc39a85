#include "isomer/engine/onednn/winograd.h"

#include <algorithm>
#include <utility>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/winograd_tiles.h"

namespace isomer::onednn {
namespace winograd {
namespace {

/// Transforms products to the result along one axis.
template <class Vector>
ISOMER_INLINE void transform_products(const Vector* points, Vector* y) {
  const Vector sum_a = points[1] + points[2], difference_a = points[1] - points[2];
  const Vector sum_b = points[3] + points[4], difference_b = points[3] - points[4];
  y[0] = points[0] + sum_a + sum_b;
  y[1] = f32(kA) * (difference_a + 2.0F * difference_b);
  y[2] = f32(kA2) * (sum_a + 4.0F * sum_b);
  y[3] = f32(kA2 * kA) * (difference_a + 8.0F * difference_b) + points[5];
}

/// Transforms weights along one axis.
template <class Vector>
ISOMER_INLINE void transform_window(const Vector* w, Vector* points) {
  constexpr double kOfA = 1 / (2 * kA2 * (kA2 - kB2)), kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const Vector even_a = w[0] + kA2 * w[2], even_b = w[0] + kB2 * w[2];
  points[0] = (1 / (kA2 * kB2)) * w[0];
  points[1] = kOfA * (even_a + kA * w[1]);
  points[2] = kOfA * (even_a - kA * w[1]);
  points[3] = kOfB * (even_b + kB * w[1]);
  points[4] = kOfB * (even_b - kB * w[1]);
  points[5] = w[2];
}

template <int kBytes>
struct DoublesOf {
  typedef double Type __attribute__((vector_size(kBytes)));
};

constexpr int64_t kBatchBytes = 400'000;  // that stay in a second-level cache
constexpr int64_t kAhead = 2048;          // floats of weights that are prefetched
constexpr int64_t kMinBatch = 24, kMaxBatch = 48;

/// How the work is divided: products are made and transformed for a panel of channels of the result after the other.
struct Division : TileGrid {
  int64_t panels;          // two blocks of channels of the result; the last one may have one
  int64_t product_stride;  // floats between the points of the products of a batch and a panel

  explicit Division(const WinogradConv& conv) : TileGrid(conv), panels(divided_up(out_depth, 2)) {
    divide(std::clamp(kBatchBytes / (kPoints * conv.channels * int64_t{sizeof(float)}), kMinBatch, kMaxBatch));
    product_stride = stride_of(2);
  }

  /// Returns the number of blocks of a panel.
  int64_t width(int64_t panel) const { return std::min<int64_t>(out_depth - 2 * panel, 2); }
  /// Returns the floats of scratch memory of one part.
  int64_t scratch() const { return kPoints * (image_stride + product_stride); }
};

/// Transforms the weights of a panel, to blocks of the panel's channels by point and by channel of the image. In double
/// precision, so that the only error is that of the result.
struct TransformWeights {
  template <class Vector>
  static ISOMER_INLINE void run(const WinogradConv& conv, const Division& division, int64_t panel, const float* from,
                                float* to) {
    using Channels = Block<Vector>;
    constexpr int64_t kBlock = kLanes<Channels>;
    const int64_t width = division.width(panel) * kBlock, first = panel * 2 * kBlock;
    const int64_t stride = kElements * (conv.transposed ? 1 : conv.channels);
    for (int64_t c = 0; c < conv.channels; ++c)
      for (int64_t k = 0; k < width; k += kBlock) {
        const int64_t window = conv.transposed ? c * conv.out_channels + first + k : (first + k) * conv.channels + c;
        transform<Channels>(from + window * kElements, stride, conv.transposed, to + c * width + k,
                            conv.channels * width);
      }
  }

  /// `stride`: between the windows of adjacent channels; `out_stride`: between points.
  template <class Channels>
  static ISOMER_INLINE void transform(const float* from, int64_t stride, bool turned, float* out, int64_t out_stride) {
    using Doubles = typename DoublesOf<2 * sizeof(Channels)>::Type;  // NOLINT(readability-redundant-typename)
    Channels windows[kElements];
    for (int64_t k = 0; k < kLanes<Channels>; ++k)
      for (int64_t w = 0; w < kElements; ++w) windows[turned ? kElements - 1 - w : w][k] = from[k * stride + w];
    Doubles rows[kWindow][kSide];
    for (int64_t i = 0; i < kWindow; ++i) {
      Doubles window[kWindow];
      for (int64_t j = 0; j < kWindow; ++j) window[j] = __builtin_convertvector(windows[i * kWindow + j], Doubles);
      transform_window(window, rows[i]);
    }
    for (int64_t j = 0; j < kSide; ++j) {
      Doubles window[kWindow], points[kSide];
      for (int64_t i = 0; i < kWindow; ++i) window[i] = rows[i][j];
      transform_window(window, points);
      for (int64_t i = 0; i < kSide; ++i)
        store(out + (i * kSide + j) * out_stride, __builtin_convertvector(points[i], Channels));
    }
  }
};

/// Multiplies one point of a batch of tiles by that of a panel's weights, to blocks by block of channels and by tile.
struct MultiplyPanel {
  template <class Vector>
  static ISOMER_INLINE void run(const Division& division, int64_t tiles, int64_t width, const float* image,
                                const float* weights, float* products) {
    if (width == 2)
      multiply<Vector, 2>(division, tiles, image, weights, products);
    else
      multiply<Vector, 1>(division, tiles, image, weights, products);
  }

  /// The number of tiles whose products with a panel fit into the registers.
  template <class Channels>
  static constexpr int kMaxTiles = sizeof(Channels) == 64 ? 12 : 6;

  template <class Vector, int kWidth>
  static ISOMER_INLINE void multiply(const Division& division, int64_t tiles, const float* image, const float* weights,
                                     float* products) {
    using Channels = Block<Vector>;
    const int64_t groups = divided_up(tiles, kMaxTiles<Channels>);
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t begin = tiles * group / groups, count = tiles * (group + 1) / groups - begin;
      const auto in_registers = [&]<int... kTiles>(std::integer_sequence<int, kTiles...>)
          __attribute__((always_inline)) {
        (...,
         (count == kTiles + 1 ? multiply_tiles<Vector, kWidth, kTiles + 1>(division, image + begin * kLanes<Channels>,
                                                                           weights, products + begin * kLanes<Channels>)
                              : void()));
      };
      in_registers(std::make_integer_sequence<int, kMaxTiles<Channels>>());
    }
  }

  template <class Vector, int kWidth, int kTiles>
  static ISOMER_INLINE void multiply_tiles(const Division& division, const float* image, const float* weights,
                                           float* products) {
    using Channels = Block<Vector>;
    constexpr int64_t kBlock = kLanes<Channels>;
    Channels sums[kTiles][kWidth] = {};
    const int64_t depth = division.depth, batch = division.batch;
    for (int64_t c = 0; c < depth; ++c, image += batch * kBlock) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < kBlock; ++k, weights += kWidth * kBlock) {
        Channels w[kWidth];
        for (int64_t v = 0; v < kWidth; ++v) {
          load(w[v], weights + v * kBlock);
          __builtin_prefetch(weights + v * kBlock + kAhead);
        }
#pragma GCC unroll 12
        for (int64_t t = 0; t < kTiles; ++t) add_scaled<Vector>(sums[t], w, image[t * kBlock + k]);
      }
    }
    // Where all indices are known, an array stays in registers.
#pragma GCC unroll 2
    for (int64_t v = 0; v < kWidth; ++v)
#pragma GCC unroll 12
      for (int64_t t = 0; t < kTiles; ++t) store(products + (v * batch + t) * kBlock, sums[t][v]);
  }
};

/// Transforms the products of a batch of tiles with one block of channels of the result, and stores the result.
struct TransformProducts {
  template <class Vector>
  static ISOMER_INLINE void run(const WinogradConv& conv, const Division& division, const Range& batch, int64_t channel,
                                const float* products, const WinogradArguments& arguments, const OwnPosts& posts) {
    using Channels = Block<Vector>;
    constexpr int64_t kBlock = kLanes<Channels>;
    Channels bias = {};
    if (arguments.bias != nullptr) load(bias, arguments.bias + channel * kBlock);
    Tile tile(division, batch.begin);
    for (int64_t t = batch.begin; t < batch.end; ++t, products += kBlock, tile.advance()) {
      const int64_t plane = (tile.image * division.out_depth + channel) * conv.out_height;
      transform<Channels>(conv, tile, products, division.product_stride, bias,
                          ((plane + tile.y) * conv.out_width + tile.x) * kBlock, arguments, posts);
    }
  }

  template <class Channels>
  static ISOMER_INLINE void transform(const WinogradConv& conv, const Tile& tile, const float* products, int64_t stride,
                                      const Channels& bias, int64_t place, const WinogradArguments& arguments,
                                      const OwnPosts& posts) {
    Channels rows[kSide][kTile];
#pragma GCC unroll 6
    for (int64_t i = 0; i < kSide; ++i) {
      Channels points[kSide];
#pragma GCC unroll 6
      for (int64_t j = 0; j < kSide; ++j) load(points[j], products + (i * kSide + j) * stride);
      transform_products(points, rows[i]);
    }
    const int64_t height = std::min<int64_t>(conv.out_height - tile.y, kTile);
    const int64_t width = std::min<int64_t>(conv.out_width - tile.x, kTile);
    for (int64_t j = 0; j < width; ++j) {
      Channels points[kSide], y[kTile];
#pragma GCC unroll 6
      for (int64_t i = 0; i < kSide; ++i) points[i] = rows[i][j];
      transform_products(points, y);
      for (int64_t i = 0; i < height; ++i) {
        const int64_t at = place + (i * conv.out_width + j) * kLanes<Channels>;
        Channels out = y[i] + bias;
        for (const OwnPost& post : posts) apply(post, at, out);
        store(arguments.result + at, out);
      }
    }
  }
};

/// What one part computes: some tiles with all panels, or all tiles with some panels, so that less is read repeatedly.
struct Part {
  Range tiles, panels;
  Part(const WinogradConv& conv, const Division& division, int64_t part, int64_t parts)
      : tiles{0, division.tiles}, panels{0, division.panels} {
    Range& divided = division.tiles < conv.out_channels ? panels : tiles;
    divided = {divided.end * part / parts, divided.end * (part + 1) / parts};
  }
};

void run_part(const WinogradConv& conv, const Division& division, const Part& part, const WinogradArguments& arguments,
              const OwnPosts& posts, float* scratch) {
  float* const image = scratch;
  float* const products = scratch + kPoints * division.image_stride;
  for (int64_t begin = part.tiles.begin; begin < part.tiles.end; begin += division.batch) {
    const Range batch{begin, std::min(begin + division.batch, part.tiles.end)};
    dispatch<TransformImage>(conv, division, batch, arguments.image, image);
    for (int64_t panel = part.panels.begin; panel < part.panels.end; ++panel) {
      const int64_t width = division.width(panel);
      const float* weights = arguments.weights + panel * 2 * division.block * kPoints * conv.channels;
      for (int64_t point = 0; point < kPoints; ++point, weights += conv.channels * width * division.block)
        dispatch<MultiplyPanel>(division, batch.end - batch.begin, width, image + point * division.image_stride,
                                weights, products + point * division.product_stride);
      for (int64_t v = 0; v < width; ++v)
        dispatch<TransformProducts>(conv, division, batch, 2 * panel + v,
                                    products + v * division.batch * division.block, arguments, posts);
    }
  }
}

}  // namespace
}  // namespace winograd

int64_t given_weights(const WinogradConv& conv) { return winograd::kElements * conv.channels * conv.out_channels; }
int64_t winograd_weights(const WinogradConv& conv) { return winograd::kPoints * conv.channels * conv.out_channels; }

void transform_weights(const WinogradConv& conv, const float* from, float* to) {
  const winograd::Division division(conv);
  parallel_for(division.panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel)
      dispatch<winograd::TransformWeights>(conv, division, panel, from,
                                           to + panel * 2 * division.block * winograd::kPoints * conv.channels);
  });
}

int64_t winograd_scratch(const WinogradConv& conv, int parts) { return parts * winograd::Division(conv).scratch(); }

void run_winograd(const WinogradConv& conv, const WinogradArguments& arguments, const OwnPosts& posts, int parts) {
  const winograd::Division division(conv);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      winograd::run_part(conv, division, winograd::Part(conv, division, i, parts), arguments, posts,
                         arguments.scratch + i * division.scratch());
  });
}

}  // namespace isomer::onednn
