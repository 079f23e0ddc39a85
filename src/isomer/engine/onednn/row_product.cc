#include "isomer/engine/onednn/row_product.h"

#include <algorithm>
#include <utility>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kVectors = 4;   // in a panel
constexpr int64_t kAhead = 1024;  // floats of weights that are prefetched if arithmetic may delay reading

/// Returns the number of columns of a panel. The weights of a panel are adjacent, row by row.
int64_t panel_columns() {
  switch (vector_width()) {
    case VectorWidth::Avx512:
      return kVectors * kLanes<Vector16>;
    case VectorWidth::Avx2:
      return kVectors * kLanes<Vector8>;
    case VectorWidth::Sse:
      break;
  }
  return kVectors * kLanes<Vector4>;
}

int64_t panels_of(const RowProduct& product) { return (product.columns + panel_columns() - 1) / panel_columns(); }

/// Computes panels of the result.
struct MultiplyRows {
  /// The number of rows whose products with a panel fit into the registers.
  template <class Vector>
  static constexpr int kMaxRows = sizeof(Vector) == 64 ? 6 : 3;

  template <class Vector>
  static ISOMER_INLINE void run(const RowProduct& product, const RowProductArguments& arguments, const OwnPosts& posts,
                                int64_t begin, int64_t end) {
    const int64_t groups = (product.rows + kMaxRows<Vector> - 1) / kMaxRows<Vector>;
    for (int64_t panel = begin; panel < end; ++panel) {
      for (int64_t group = 0; group < groups; ++group) {
        const int64_t row = product.rows * group / groups, count = product.rows * (group + 1) / groups - row;
        const auto in_registers = [&]<int... kRows>(std::integer_sequence<int, kRows...>)
            __attribute__((always_inline)) {
          (..., (count == kRows + 1 ? multiply<Vector, kRows + 1>(product, arguments, posts, panel, row) : void()));
        };
        in_registers(std::make_integer_sequence<int, kMaxRows<Vector>>());
      }
    }
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void multiply(const RowProduct& product, const RowProductArguments& arguments,
                                     const OwnPosts& posts, int64_t panel, int64_t row) {
    constexpr int64_t kWidth = kVectors * kLanes<Vector>;
    const int64_t inner = product.inner;
    const float* const a = arguments.a + row * inner;
    const float* weights = arguments.weights + panel * inner * kWidth;
    Vector sums[kRows][kVectors] = {};
    for (int64_t k = 0; k < inner; ++k, weights += kWidth) {
      Vector w[kVectors];
#pragma GCC unroll 4
      for (int64_t v = 0; v < kVectors; ++v) {
        load(w[v], weights + v * kLanes<Vector>);
        if (kRows > 1) __builtin_prefetch(weights + v * kLanes<Vector> + kAhead);
      }
#pragma GCC unroll 6
      for (int64_t r = 0; r < kRows; ++r) {
        const Vector x = Vector{} + a[r * inner + k];
#pragma GCC unroll 4
        for (int64_t v = 0; v < kVectors; ++v) sums[r][v] += x * w[v];
      }
    }
    const int64_t column = panel * kWidth, width = std::min(kWidth, product.columns - column);
    for (int64_t r = 0; r < kRows; ++r) {
      const int64_t at = (row + r) * product.columns + column;
      for (int64_t v = 0; v < kVectors; ++v) {
        const int64_t first = v * kLanes<Vector>;
        if (first + kLanes<Vector> <= width)
          finish(arguments, posts, column + first, at + first, sums[r][v]);
        else if (first < width)
          finish_some(arguments, posts, column + first, at + first, width - first, sums[r][v]);
      }
    }
  }

  template <class Vector>
  static ISOMER_INLINE void finish(const RowProductArguments& arguments, const OwnPosts& posts, int64_t column,
                                   int64_t at, Vector& y) {
    if (arguments.bias != nullptr) {
      Vector bias;
      load(bias, arguments.bias + column);
      y += bias;
    }
    for (const OwnPost& post : posts) apply(post, at, y);
    store(arguments.result + at, y);
  }

  /// Finishes the first elements of a vector.
  template <class Vector>
  static ISOMER_INLINE void finish_some(const RowProductArguments& arguments, const OwnPosts& posts, int64_t column,
                                        int64_t at, int64_t count, const Vector& y) {
    float elements[kLanes<Vector>];
    store(elements, y);
    for (int64_t i = 0; i < count; ++i) {
      VectorOf<sizeof(float)>::Type one;
      load(one, elements + i);
      finish(arguments, posts, column + i, at + i, one);
    }
  }
};

}  // namespace

int64_t packed_weights(const RowProduct& product) { return panels_of(product) * panel_columns() * product.inner; }

void pack_weights(const RowProduct& product, bool transposed, const float* from, float* to) {
  const int64_t width = panel_columns();
  parallel_for(panels_of(product), 1, [&](int64_t begin, int64_t end) {
    float* out = to + begin * product.inner * width;
    for (int64_t panel = begin; panel < end; ++panel)
      for (int64_t k = 0; k < product.inner; ++k)
        for (int64_t column = panel * width; column < (panel + 1) * width; ++column) {
          const int64_t at = transposed ? column * product.inner + k : k * product.columns + column;
          *out++ = column < product.columns ? from[at] : 0;
        }
  });
}

void run_row_product(const RowProduct& product, const RowProductArguments& arguments, const OwnPosts& posts) {
  parallel_for(panels_of(product), 1,
               [&](int64_t begin, int64_t end) { dispatch<MultiplyRows>(product, arguments, posts, begin, end); });
}

}  // namespace isomer::onednn
