#include "isomer/engine/onednn/row_product.h"

#include <algorithm>

#include "isomer/engine/onednn/row_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

int64_t panels_of(const RowProduct& product) { return (product.columns + panel_columns() - 1) / panel_columns(); }

/// Computes panels of the result.
struct MultiplyRows {
  template <class Vector>
  static ISOMER_INLINE void run(const RowProduct& product, const RowProductArguments& arguments, const OwnPosts& posts,
                                int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel)
      by_rows<Vector>(
          product.rows, [&]<int kRows>(int64_t row) __attribute__((always_inline)) {
            multiply<Vector, kRows>(product, arguments, posts, panel, row);
          });
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void multiply(const RowProduct& product, const RowProductArguments& arguments,
                                     const OwnPosts& posts, int64_t panel, int64_t row) {
    constexpr int64_t kWidth = kPanelVectors * kLanes<Vector>;
    Vector sums[kRows][kPanelVectors] = {};
    add_products(arguments.a + row * product.inner, product.inner, arguments.weights + panel * product.inner * kWidth,
                 sums);
    const int64_t column = panel * kWidth, width = std::min(kWidth, product.columns - column);
    for (int64_t r = 0; r < kRows; ++r) {
      const int64_t at = (row + r) * product.columns + column;
      for (int64_t v = 0; v < kPanelVectors; ++v) {
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

int64_t panel_columns() {
  switch (vector_width()) {
    case VectorWidth::Avx512:
      return kPanelVectors * kLanes<Vector16>;
    case VectorWidth::Avx2:
      return kPanelVectors * kLanes<Vector8>;
    case VectorWidth::Sse:
      break;
  }
  return kPanelVectors * kLanes<Vector4>;
}

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
