#include "isomer/engine/onednn/depthwise.h"

#include <algorithm>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/ranges.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace depthwise {
namespace {

constexpr int kResults = 7;  // of a row, whose sums are in registers; the images of most networks have multiples of it
constexpr int64_t kGrain = 20'000;  // minimum number of multiplications per thread

/// How values lie: planes of `width` channels, of which each pixel has all, one after the other.
struct Planes {
  int64_t count;  // of an image
  int64_t width;

  explicit Planes(const DepthwiseConv& conv)
      : count(conv.blocked ? conv.channels / native_block() : 1), width(conv.channels / count) {}
};

/// Results of one row that are adjacent, of a vector of channels.
struct Tile {
  const float* image;    // the first element of the first window, which may be outside
  const float* weights;  // packed
  const float* bias;
  int64_t place;                  // of the first result
  int64_t channels;               // of all weights
  int64_t pixel, row;             // floats between pixels, and between rows of the image
  int64_t begin_row, end_row;     // of the window, those in the image
  int64_t first_column, columns;  // of the first window, which may be negative, and the image's number of them
};

/// Computes kCount results. kInside: no window reaches beyond the columns of the image.
template <class Vector, int kWindow, int kStride, int kCount, bool kInside>
ISOMER_INLINE void compute(const Tile& tile, const OwnPosts& posts, float* result) {
  Vector bias = {};
  if (tile.bias != nullptr) load(bias, tile.bias);
  Vector sums[kCount];
#pragma GCC unroll 7
  for (int r = 0; r < kCount; ++r) sums[r] = bias;
  for (int64_t y = tile.begin_row; y < tile.end_row; ++y) {
    const float* const row = tile.image + y * tile.row;
    Vector weights[kWindow];
#pragma GCC unroll 7
    for (int k = 0; k < kWindow; ++k) load(weights[k], tile.weights + (y * kWindow + k) * tile.channels);
#pragma GCC unroll 19
    for (int x = 0; x < (kCount - 1) * kStride + kWindow; ++x) {
      if (!kInside && (tile.first_column + x < 0 || tile.first_column + x >= tile.columns)) continue;
      Vector element;
      load(element, row + x * tile.pixel);
#pragma GCC unroll 7
      for (int k = 0; k < kWindow; ++k)
        if (x >= k && (x - k) % kStride == 0 && (x - k) / kStride < kCount)
          sums[(x - k) / kStride] += element * weights[k];
    }
  }
  if (posts.begin() == posts.end()) {
#pragma GCC unroll 7
    for (int r = 0; r < kCount; ++r) store(result + tile.place + r * tile.pixel, sums[r]);
    return;
  }
  // Where all indices are known, an array stays in registers.
  Vector in_memory[kCount];
#pragma GCC unroll 7
  for (int r = 0; r < kCount; ++r) in_memory[r] = sums[r];
  for (int r = 0; r < kCount; ++r) {
    const int64_t at = tile.place + r * tile.pixel;
    Vector out = in_memory[r];
    for (const OwnPost& post : posts) apply(post, at, out);
    store(result + at, out);
  }
}

/// A vector for fewer channels than one of the processor's has lanes.
template <class Vector>
using Half = typename VectorOf<std::max<int>(sizeof(Vector) / 2, 16)>::Type;  // NOLINT(readability-redundant-typename)

/// Computes rows of results, those of a plane one after the other.
template <int kWindow, int kStride>
struct Rows {
  template <class Vector>
  static ISOMER_INLINE void run(const DepthwiseConv& conv, const Range& rows, const DepthwiseArguments& arguments,
                                const OwnPosts& posts) {
    const Planes planes(conv);
    Row row{.index = rows.begin, .plane = rows.begin / conv.out_height, .y = rows.begin % conv.out_height};
    row.channel = row.plane % planes.count * planes.width;
    for (; row.index < rows.end; ++row.index) {
      if (planes.width < kLanes<Vector>)
        compute_row<Half<Vector>>(conv, planes, row, arguments, posts);
      else
        compute_row<Vector>(conv, planes, row, arguments, posts);
      if (++row.y < conv.out_height) continue;
      row.y = 0;
      ++row.plane;
      row.channel += planes.width;
      if (row.channel == conv.channels) row.channel = 0;
    }
  }

  /// A row of the result.
  struct Row {
    int64_t index, plane, y;
    int64_t channel = 0;  // the first of its plane
  };

  /// The last vector of channels overlaps with another one if they are not a multiple of it; likewise, the last tile.
  template <class Vector>
  static ISOMER_INLINE void compute_row(const DepthwiseConv& conv, const Planes& planes, const Row& row,
                                        const DepthwiseArguments& arguments, const OwnPosts& posts) {
    const int64_t first_row = row.y * kStride - conv.top;
    const float* const image = arguments.image + (row.plane * conv.height + first_row) * conv.width * planes.width;
    for (int64_t c = 0; c < planes.width; c += kLanes<Vector>) {
      const int64_t lane = std::min(c, planes.width - kLanes<Vector>), channel = row.channel + lane;
      Tile tile{.image = image + lane,
                .weights = arguments.weights + channel,
                .bias = arguments.bias == nullptr ? nullptr : arguments.bias + channel,
                .place = row.index * conv.out_width * planes.width + lane,
                .channels = conv.channels,
                .pixel = planes.width,
                .row = conv.width * planes.width,
                .begin_row = std::max<int64_t>(-first_row, 0),
                .end_row = std::min<int64_t>(conv.height - first_row, kWindow),
                .first_column = 0,
                .columns = conv.width};
      if (conv.out_width >= kResults)
        compute_tiles<Vector, kResults>(tile, conv, posts, arguments.result);
      else
        compute_tiles<Vector, 1>(tile, conv, posts, arguments.result);
    }
  }

  /// Computes tiles of kCount results; `row` is a tile at the beginning of the row and of the image's row.
  template <class Vector, int kCount>
  static ISOMER_INLINE void compute_tiles(const Tile& row, const DepthwiseConv& conv, const OwnPosts& posts,
                                          float* result) {
    constexpr int64_t kReach = int64_t{kCount - 1} * kStride + kWindow;
    for (int64_t x = 0; x < conv.out_width; x += kCount) {
      const int64_t first = std::min(x, conv.out_width - kCount);
      Tile tile = row;
      tile.first_column = first * kStride - conv.left;
      tile.image += tile.first_column * tile.pixel;
      tile.place += first * tile.pixel;
      const bool inside = tile.first_column >= 0 && tile.first_column + kReach <= conv.width;
      if (kCount > 1 && inside)
        compute<Vector, kWindow, kStride, kCount, true>(tile, posts, result);
      else
        compute<Vector, kWindow, kStride, kCount, false>(tile, posts, result);
    }
  }
};

template <int kWindow>
void run_rows(const DepthwiseConv& conv, const Range& rows, const DepthwiseArguments& arguments,
              const OwnPosts& posts) {
  if (conv.stride == 1)
    dispatch<Rows<kWindow, 1>>(conv, rows, arguments, posts);
  else
    dispatch<Rows<kWindow, 2>>(conv, rows, arguments, posts);
}

}  // namespace
}  // namespace depthwise

int64_t min_depthwise_channels() { return vector_width() == VectorWidth::Avx512 ? 8 : 4; }

int64_t depthwise_weights(const DepthwiseConv& conv) { return conv.window * conv.window * conv.channels; }

void pack_depthwise_weights(const DepthwiseConv& conv, const float* from, float* to) {
  const int64_t elements = conv.window * conv.window;
  for (int64_t c = 0; c < conv.channels; ++c)
    for (int64_t i = 0; i < elements; ++i)
      to[i * conv.channels + c] = from[c * elements + (conv.transposed ? elements - 1 - i : i)];
}

bool computes_twice(const DepthwiseConv& conv) {
  const depthwise::Planes planes(conv);
  int64_t lanes = int64_t{4} << static_cast<int>(vector_width());
  if (planes.width < lanes) lanes = std::max<int64_t>(lanes / 2, 4);
  return planes.width % lanes != 0 ||
         (conv.out_width > depthwise::kResults && conv.out_width % depthwise::kResults != 0);
}

void run_depthwise(const DepthwiseConv& conv, const DepthwiseArguments& arguments, const OwnPosts& posts) {
  const depthwise::Planes planes(conv);
  const int64_t row_work = conv.out_width * planes.width * conv.window * conv.window;
  parallel_for(conv.images * planes.count * conv.out_height, std::max<int64_t>(depthwise::kGrain / row_work, 1),
               [&](int64_t begin, int64_t end) {
                 const Range rows{begin, end};
                 if (conv.window == 3)
                   depthwise::run_rows<3>(conv, rows, arguments, posts);
                 else if (conv.window == 5)
                   depthwise::run_rows<5>(conv, rows, arguments, posts);
                 else
                   depthwise::run_rows<7>(conv, rows, arguments, posts);
               });
}

}  // namespace isomer::onednn
