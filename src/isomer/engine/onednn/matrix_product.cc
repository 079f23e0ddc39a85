#include "isomer/engine/onednn/matrix_product.h"

#include <algorithm>
#include <utility>

#include "isomer/engine/onednn/caches.h"
#include "isomer/engine/onednn/ranges.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

/// A tile of the result, which stays in the registers.
template <class Vector>
inline constexpr int kTileRows = sizeof(Vector) == 64 ? 12 : 4;
template <class Vector>
inline constexpr int kTileVectors = sizeof(Vector) == 64 ? 2 : 3;

constexpr int64_t kRowUnit = 4;      // tiles have a multiple of these rows
constexpr int64_t kLineFloats = 16;  // floats of a line of a cache

/// The extent of the blocks into which sums are divided: a panel of B, with 32 columns, is about as large as the first
/// level of cache.
constexpr int64_t kInnerBlock = 384;

/// A row-major B is not packed if the result has at most so many tiles of rows, because packing a panel takes as long
/// as the tiles that read it; or if sums have at most so many summands and B stays in the second level of cache.
constexpr int64_t kFewTiles = 4;
constexpr int64_t kFewInner = 64;

/// If the result has few rows, so many rows of B are read at the same time, from end to end.
constexpr int64_t kStreamedRows = 16;

/// Returns the floats of a block that stays in the second level of cache.
int64_t block_floats() { return second_level_bytes() / 2 / static_cast<int64_t>(sizeof(float)); }

/// A block of the result, and which part of the sums it adds.
struct ProductBlock {
  Range rows, inner;
  bool first = false, last = false;
};

/// How the work is divided: a grid of parts of the result. Each packs the operands that it needs.
struct ProductDivision {
  int64_t tile_rows = 0, tile_columns = 0;
  int64_t row_parts = 1, column_parts = 1;
  int64_t block_rows = 0, block_inner = 0;
  bool packs_b = true;

  ProductDivision(const MatrixProduct& product, int parts) {
    switch (vector_width()) {
      case VectorWidth::Avx512:
        set_tile<Vector16>();
        break;
      case VectorWidth::Avx2:
        set_tile<Vector8>();
        break;
      case VectorWidth::Sse:
        set_tile<Vector4>();
    }
    // The grid whose largest part has fewest tiles; of these, the one for which least is packed.
    const int64_t row_tiles = divided_up(product.rows, tile_rows);
    const int64_t column_tiles = divided_up(product.columns, tile_columns);
    std::pair<int64_t, int64_t> best;
    for (int64_t rows = 1; rows <= parts; ++rows) {
      if (parts % rows != 0) continue;
      const int64_t columns = parts / rows;
      const std::pair cost(divided_up(row_tiles, rows) * divided_up(column_tiles, columns),
                           rows * product.columns + columns * product.rows);
      if (rows > 1 && cost >= best) continue;
      best = cost;
      row_parts = rows;
      column_parts = columns;
    }
    const int64_t rows = divided_up(product.rows, row_parts);
    block_rows = rounded_up(divided_up(rows, divided_up(rows, block_floats() / kInnerBlock)), tile_rows);
    const bool few_rows = product.rows <= kFewTiles * tile_rows;
    const bool short_sums = product.inner <= kFewInner && product.inner * product.columns <= block_floats();
    packs_b = product.b.transposed || !(few_rows || short_sums);
    const int64_t most = !packs_b && few_rows ? kStreamedRows : kInnerBlock;
    block_inner = divided_up(product.inner, divided_up(product.inner, most));
  }

  ProductBlock block(const MatrixProduct& product, const Range& some_rows, int64_t k) const {
    return {.rows = some_rows,
            .inner = {k, std::min(k + block_inner, product.inner)},
            .first = k == 0,
            .last = k + block_inner >= product.inner};
  }

  int64_t panel() const { return rounded_up(tile_columns * block_inner, kLineFloats); }
  /// Returns the floats of scratch memory of one part: a panel of B, then a block of A.
  int64_t scratch() const { return panel() + rounded_up(block_rows * block_inner, kLineFloats); }

 private:
  template <class Vector>
  void set_tile() {
    tile_rows = kTileRows<Vector>;
    tile_columns = kTileVectors<Vector> * kLanes<Vector>;
  }
};

/// Packs rows of a matrix to a panel of `width` of them, by column; zeros fill it. `across`: the elements of a column
/// are adjacent, and columns `stride` apart; otherwise those of a row are, and rows `stride` apart.
struct PackPanel {
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, int64_t stride, bool across, int64_t rows, int64_t depth,
                                int64_t width, float* to) {
    if (!across && width % kLanes<Vector> == 0)
      transpose<Vector>(from, stride, rows, depth, width, to);
    else if (!across)
      transpose<Vector4>(from, stride, rows, depth, width, to);
    else if (rows < width)
      copy_some(from, stride, rows, depth, width, to);
    else if (width % kLanes<Vector> == 0)
      copy<Vector>(from, stride, depth, width, to);
    else
      copy<Vector4>(from, stride, depth, width, to);
  }

  template <class Part>
  static ISOMER_INLINE void copy(const float* from, int64_t stride, int64_t depth, int64_t width, float* to) {
    for (int64_t k = 0; k < depth; ++k, from += stride)
      for (int64_t r = 0; r < width; r += kLanes<Part>, to += kLanes<Part>) {
        Part some;
        load(some, from + r);
        store(to, some);
      }
  }

  static void copy_some(const float* from, int64_t stride, int64_t rows, int64_t depth, int64_t width, float* to) {
    for (int64_t k = 0; k < depth; ++k, from += stride, to += width) {
      std::copy_n(from, rows, to);
      std::fill(to + rows, to + width, 0.0F);
    }
  }

  template <class Vector>
  static ISOMER_INLINE void transpose(const float* from, int64_t stride, int64_t rows, int64_t depth, int64_t width,
                                      float* to) {
    constexpr int64_t kSide = kLanes<Vector>;
    for (int64_t r = 0; r < width; r += kSide) {
      const int64_t there = std::clamp<int64_t>(rows - r, 0, kSide);
      int64_t k = 0;
      if (there == kSide)
        for (; k + kSide <= depth; k += kSide)
          transpose_square<Vector>(from + r * stride + k, stride, to + k * width + r, width);
      for (; k < depth; ++k)
        for (int64_t i = 0; i < kSide; ++i) to[k * width + r + i] = i < there ? from[(r + i) * stride + k] : 0;
    }
  }

  template <class Vector>
  static ISOMER_INLINE void transpose_square(const float* from, int64_t stride, float* to, int64_t to_stride) {
    Vector square[kLanes<Vector>];
#pragma GCC unroll 16
    for (int64_t r = 0; r < kLanes<Vector>; ++r) load(square[r], from + r * stride);
    exchange<1>(square);
    exchange<2>(square);
    if constexpr (kLanes < Vector >> 4) exchange<4>(square);
    if constexpr (kLanes < Vector >> 8) exchange<8>(square);
#pragma GCC unroll 16
    for (int64_t r = 0; r < kLanes<Vector>; ++r) store(to + r * to_stride, square[r]);
  }

  /// Divides a square into blocks of kSide x kSide and transposes every four of them, as if they were elements.
  template <int kSide, class Vector, size_t kSize>
  static ISOMER_INLINE void exchange(Vector (&square)[kSize]) {
#pragma GCC unroll 16
    for (size_t r = 0; r < kSize; ++r)
      if ((r & kSide) == 0)
        exchange_rows<kSide>(square[r], square[r + kSide], std::make_integer_sequence<int, kSize>());
  }

  template <int kSide, class Vector, int... kColumns>
  static ISOMER_INLINE void exchange_rows(Vector& above, Vector& below, std::integer_sequence<int, kColumns...>) {
    constexpr int kSize = sizeof...(kColumns);
    const Vector first = above, second = below;
    above = __builtin_shufflevector(first, second, ((kColumns & kSide) != 0 ? kSize + kColumns - kSide : kColumns)...);
    below = __builtin_shufflevector(first, second, ((kColumns & kSide) != 0 ? kSize + kColumns : kColumns + kSide)...);
  }
};

const float* element(const float* from, const MatrixLayout& layout, int64_t row, int64_t column) {
  return from + (layout.transposed ? column * layout.stride + row : row * layout.stride + column);
}

/// The lines of memory that are packed next, which are read ahead a few at a time.
struct Ahead {
  const float* from = nullptr;
  int64_t stride = 0;   ///< floats
  int64_t per_row = 0;  ///< lines
  int64_t rows = 0;
  int64_t line = 0;  ///< the next one of its row

  int64_t lines() const { return rows * per_row; }
  void fetch(int64_t count) {
    for (; count > 0 && rows > 0; --count) {
      __builtin_prefetch(from + line * kLineFloats, 0, 2);
      if (++line < per_row) continue;
      line = 0;
      from += stride;
      --rows;
    }
  }
};

/// What is done with the sums of a block before they are stored.
struct Finish {
  bool adds = false;            ///< to what is stored
  const float* bias = nullptr;  ///< of each column; nullptr: none
  OwnPosts posts = {};
  float* result = nullptr;

  Finish(const ProductBlock& block, const MatrixProductArguments& arguments, const OwnPosts& posts)
      : adds(!block.first),
        bias(block.last ? arguments.bias : nullptr),
        posts(block.last ? posts : OwnPosts()),
        result(arguments.result) {}

  /// Returns whether values are added at most: what was stored, a bias and one other value.
  bool only_adds() const {
    const auto count = posts.end() - posts.begin();
    return count == 0 || (count == 1 && posts.begin()->adds());
  }
  /// Reads a tile ahead. (GCC 12 would remove a call of it.)
  ISOMER_INLINE void fetch(int64_t row, int64_t height, int64_t column, int64_t width, int64_t stride) const {
    for (int64_t r = 0; r < height; ++r)
      for (int64_t w = 0; w < width; w += kLineFloats) {
        const int64_t at = (row + r) * stride + column + w;
        __builtin_prefetch(result + at, 1);
        for (const OwnPost& post : posts)
          if (post.added != nullptr) __builtin_prefetch(post.added + at);
      }
  }
  template <class Vector>
  ISOMER_INLINE void store_at(int64_t column, int64_t at, const Vector& sum) const {
    Vector y = sum;
    if (adds) {
      Vector before;
      load(before, result + at);
      y += before;
    }
    if (bias != nullptr) {
      Vector more;
      load(more, bias + column);
      y += more;
    }
    for (const OwnPost& post : posts) apply(post, at, y);
    store(result + at, y);
  }
};

/// Multiplies packed rows of A by columns of B. Where B is packed, its stride is known to the compiler.
template <bool kPacked>
struct MultiplyTile {
  template <class Vector>
  static ISOMER_INLINE void run(const Finish& finish, int64_t row, int64_t height, int64_t column, int64_t width,
                                const float* a, const float* b, int64_t b_stride, int64_t depth, int64_t stride) {
    constexpr int64_t kWidth = kTileVectors<Vector> * kLanes<Vector>;
    Vector sums[kTileRows<Vector>][kTileVectors<Vector>];
    const bool direct = finish.only_adds() && width == kWidth && height % kRowUnit == 0;
    const Target target =
        direct ? Target(finish, row * stride + column, column, stride) : Target(reinterpret_cast<float*>(sums), kWidth);
    multiply<Vector>(height, a, b, b_stride, depth, target);
    for (int64_t r = 0; !direct && r < height; ++r)
      finish_row<Vector>(finish, column, width, (row + r) * stride + column, sums[r]);
  }

 private:
  /// Where sums are stored, and what is added to them.
  struct Target {
    float* to;
    int64_t stride;  ///< between rows, also of what is added
    bool adds = false;
    const float* bias = nullptr;
    const float* added = nullptr;
    float scale = 1;  ///< of `added`

    Target(float* to, int64_t stride) : to(to), stride(stride) {}
    /// For the element `at`, in this column, of a result to which values are only added.
    Target(const Finish& finish, int64_t at, int64_t column, int64_t stride)
        : to(finish.result + at), stride(stride), adds(finish.adds) {
      if (finish.bias != nullptr) bias = finish.bias + column;
      if (const OwnPost* const post = finish.posts.begin(); post != finish.posts.end()) {
        added = post->added + at;
        scale = post->scale;
      }
    }
  };

  template <class Vector>
  static ISOMER_INLINE void multiply(int64_t height, const float* a, const float* b, int64_t b_stride, int64_t depth,
                                     const Target& target) {
    constexpr int kHeights = kTileRows<Vector> / kRowUnit;
    const auto of_height = [&]<int... kUnits>(std::integer_sequence<int, kUnits...>) __attribute__((always_inline)) {
      (..., (divided_up(height, kRowUnit) == kUnits + 1
                 ? multiply_rows<Vector, (kUnits + 1) * kRowUnit>(a, b, b_stride, depth, target)
                 : void()));
    };
    of_height(std::make_integer_sequence<int, kHeights>());
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void multiply_rows(const float* a, const float* b, int64_t b_stride, int64_t depth,
                                          const Target& target) {
    constexpr int kVectors = kTileVectors<Vector>;
    // Where all indices are known, an array stays in registers.
    Vector sums[kRows][kVectors] = {};
    const float* const end = a + depth * kRows;
#pragma GCC unroll 4
    for (; a != end; a += kRows, b += kPacked ? kVectors * kLanes<Vector> : b_stride) {
      Vector w[kVectors];
#pragma GCC unroll 3
      for (int64_t v = 0; v < kVectors; ++v) load(w[v], b + v * kLanes<Vector>);
#pragma GCC unroll 12
      for (int64_t r = 0; r < kRows; ++r) add_scaled<Vector>(sums[r], w, a[r]);
    }
#pragma GCC unroll 12
    for (int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 3
      for (int64_t v = 0; v < kVectors; ++v) {
        const int64_t at = r * target.stride + v * kLanes<Vector>;
        Vector y = sums[r][v], addend;
        if (target.adds) {
          load(addend, target.to + at);
          y += addend;
        }
        if (target.bias != nullptr) {
          load(addend, target.bias + v * kLanes<Vector>);
          y += addend;
        }
        if (target.added != nullptr) {
          load(addend, target.added + at);
          y += target.scale * addend;
        }
        store(target.to + at, y);
      }
  }

  template <class Vector>
  static ISOMER_INLINE void finish_row(const Finish& finish, int64_t column, int64_t width, int64_t at,
                                       const Vector (&sums)[kTileVectors<Vector>]) {
    for (int64_t v = 0; v < kTileVectors<Vector>; ++v) {
      const int64_t first = v * kLanes<Vector>, count = std::min(width - first, kLanes<Vector>);
      if (count == kLanes<Vector>) {
        finish.store_at(column + first, at + first, sums[v]);
        continue;
      }
      float elements[kLanes<Vector>];
      store(elements, sums[v]);
      for (int64_t i = 0; i < count; ++i) {
        VectorOf<sizeof(float)>::Type one;
        load(one, elements + i);
        finish.store_at(column + first + i, at + first + i, one);
      }
    }
  }
};

/// Multiplies a packed block of A by a packed panel of B.
struct MultiplyBlock {
  template <class Vector>
  static ISOMER_INLINE void run(const MatrixProduct& product, const ProductBlock& block, int64_t column, int64_t width,
                                const float* a, const float* b, Ahead ahead, const MatrixProductArguments& arguments,
                                const OwnPosts& posts) {
    const Finish finish(block, arguments, posts);
    const int64_t lines = divided_up(ahead.lines() * kTileRows<Vector>, block.rows.size());
    for (int64_t row = block.rows.begin; row < block.rows.end; row += kTileRows<Vector>) {
      const int64_t height = std::min<int64_t>(kTileRows<Vector>, block.rows.end - row);
      finish.fetch(row, height, column, width, product.columns);
      ahead.fetch(lines);
      MultiplyTile<true>::run<Vector>(finish, row, height, column, width, a, b, 0, block.inner.size(), product.columns);
      a += block.inner.size() * rounded_up(height, kRowUnit);
    }
  }
};

/// Multiplies a packed tile of rows of A by full tiles of columns of B as it lies.
struct MultiplyTileRow {
  template <class Vector>
  static ISOMER_INLINE void run(const MatrixProduct& product, const ProductBlock& block, const Range& columns,
                                const float* a, const float* b, const MatrixProductArguments& arguments,
                                const OwnPosts& posts) {
    constexpr int64_t kWidth = kTileVectors<Vector> * kLanes<Vector>;
    const Finish finish(block, arguments, posts);
    for (int64_t column = columns.begin; column < columns.end; column += kWidth, b += kWidth)
      MultiplyTile<false>::run<Vector>(finish, block.rows.begin, block.rows.size(), column, kWidth, a, b,
                                       product.b.stride, block.inner.size(), product.columns);
  }
};

void pack_block(const MatrixProduct& product, const ProductDivision& division, const ProductBlock& block,
                const float* from, float* to) {
  const int64_t depth = block.inner.size();
  for (int64_t row = block.rows.begin; row < block.rows.end; row += division.tile_rows) {
    const int64_t rows = std::min(division.tile_rows, block.rows.end - row), height = rounded_up(rows, kRowUnit);
    dispatch<PackPanel>(element(from, product.a, row, block.inner.begin), product.a.stride, product.a.transposed, rows,
                        depth, height, to);
    to += height * depth;
  }
}

/// Computes a part of the result. A block of A is packed, then each panel of B.
void run_packed(const MatrixProduct& product, const ProductDivision& division, const Range& rows, const Range& columns,
                const MatrixProductArguments& arguments, const OwnPosts& posts, float* scratch) {
  float* const panel = scratch;
  float* const packed = scratch + division.panel();
  for (int64_t row = rows.begin; row < rows.end; row += division.block_rows)
    for (int64_t k = 0; k < product.inner; k += division.block_inner) {
      const ProductBlock block = division.block(product, {row, std::min(row + division.block_rows, rows.end)}, k);
      const int64_t depth = block.inner.size();
      pack_block(product, division, block, arguments.a, packed);
      for (int64_t column = columns.begin; column < columns.end; column += division.tile_columns) {
        const auto width_at = [&](int64_t first) {
          return std::clamp<int64_t>(columns.end - first, 0, division.tile_columns);
        };
        const auto panel_at = [&](int64_t first) { return element(arguments.b, product.b, k, first); };
        const int64_t width = width_at(column), next = column + division.tile_columns, next_width = width_at(next);
        dispatch<PackPanel>(panel_at(column), product.b.stride, !product.b.transposed, width, depth,
                            division.tile_columns, panel);
        Ahead ahead;
        if (next_width > 0)
          ahead = {.from = panel_at(next),
                   .stride = product.b.stride,
                   .per_row = divided_up(product.b.transposed ? depth : next_width, kLineFloats),
                   .rows = product.b.transposed ? next_width : depth};
        dispatch<MultiplyBlock>(product, block, column, width, packed, panel, ahead, arguments, posts);
      }
    }
}

/// Likewise, with B as it lies. For each block of sums, the result is computed row by row.
void run_unpacked(const MatrixProduct& product, const ProductDivision& division, const Range& rows,
                  const Range& columns, const MatrixProductArguments& arguments, const OwnPosts& posts,
                  float* scratch) {
  float* const panel = scratch;
  float* const packed = scratch + division.panel();
  const int64_t rest = columns.size() % division.tile_columns;
  const Range full{columns.begin, columns.end - rest};
  for (int64_t k = 0; k < product.inner; k += division.block_inner) {
    // The last columns are no full tile: what is read behind them would not be theirs.
    if (rest > 0)
      dispatch<PackPanel>(element(arguments.b, product.b, k, full.end), product.b.stride, true, rest,
                          division.block(product, rows, k).inner.size(), division.tile_columns, panel);
    for (int64_t row = rows.begin; row < rows.end; row += division.tile_rows) {
      const ProductBlock block = division.block(product, {row, std::min(row + division.tile_rows, rows.end)}, k);
      pack_block(product, division, block, arguments.a, packed);
      dispatch<MultiplyTileRow>(product, block, full, packed, element(arguments.b, product.b, k, full.begin), arguments,
                                posts);
      if (rest > 0) dispatch<MultiplyBlock>(product, block, full.end, rest, packed, panel, Ahead(), arguments, posts);
    }
  }
}

}  // namespace

int64_t matrix_product_scratch(const MatrixProduct& product, int parts) {
  return parts * ProductDivision(product, parts).scratch();
}

bool sums_at_once(const MatrixProduct& product, int parts) {
  return ProductDivision(product, parts).block_inner >= product.inner;
}

void run_matrix_product(const MatrixProduct& product, const MatrixProductArguments& arguments, const OwnPosts& posts,
                        int parts) {
  const ProductDivision division(product, parts);
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const Range rows =
          Range{0, product.rows}.part(part / division.column_parts, division.row_parts, division.tile_rows);
      const Range columns =
          Range{0, product.columns}.part(part % division.column_parts, division.column_parts, division.tile_columns);
      if (columns.size() == 0) continue;
      (division.packs_b ? run_packed : run_unpacked)(product, division, rows, columns, arguments, posts,
                                                     arguments.scratch + part * division.scratch());
    }
  });
}

}  // namespace isomer::onednn
