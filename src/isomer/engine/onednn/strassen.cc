#include "isomer/engine/onednn/strassen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "isomer/engine/onednn/ranges.h"
#include "isomer/engine/onednn/row_kernel.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace strassen {
namespace {

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
/// A product is added to one or two quarters of the result.
struct Update {
  Quarter quarter = k11;
  int sign = 0;  // 0: no update
};
struct Product {
  Factor a, b;
  Update updates[2];
};
constexpr Product kProducts[] = {
    {{k11, k22, 1}, {k11, k22, 1}, {{k11, 1}, {k22, 1}}},  //
    {{k21, k22, 1}, {k11}, {{k21, 1}, {k22, -1}}},         //
    {{k11}, {k12, k22, -1}, {{k12, 1}, {k22, 1}}},         //
    {{k22}, {k21, k11, -1}, {{k11, 1}, {k21, 1}}},         //
    {{k11, k12, 1}, {k22}, {{k11, -1}, {k12, 1}}},         //
    {{k21, k11, -1}, {k11, k12, 1}, {{k22, 1}}},           //
    {{k12, k22, -1}, {k21, k22, 1}, {{k11, 1}}},           //
};
constexpr int64_t kCount = std::size(kProducts);
constexpr int kUpdates[] = {4, 2, 2, 4};  // of each quarter

constexpr int64_t kMaxRows = 200;    // at once, so that sums of them stay in a cache
constexpr int64_t kMaxInner = 1536;  // likewise
constexpr int64_t kGrain = 16'384;   // minimum number of elements that a thread adds

/// A part of a product: some rows of A, and a range of the inner extent.
struct Part {
  Range rows, inner;

  /// Rows in the upper half, and in the lower one, which may have one row less.
  int64_t upper() const { return divided_up(rows.size(), 2); }
  int64_t lower() const { return rows.size() - upper(); }
  int64_t depth() const { return inner.size() / 2; }
};

Range inner_part(const StrassenProduct& product, int64_t index) {
  return Range{0, product.inner}.part(index, divided_up(product.inner, kMaxInner), 2);
}
int64_t inner_parts(const StrassenProduct& product) { return divided_up(product.inner, kMaxInner); }
int64_t panels_of(const StrassenProduct& product) { return product.columns / 2 / panel_columns(); }

/// Returns the power of two by which numbers of at most this magnitude are multiplied, to be near 1.
float scale_for(float max) {
  constexpr int kMaxExponent = 100;
  if (!(max > 0) || max > std::numeric_limits<float>::max()) return 1;
  int exponent = 0;
  std::frexp(max, &exponent);
  return std::ldexp(1.0F, std::clamp(-exponent, -kMaxExponent, kMaxExponent));
}

struct MaxMagnitude {
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, int64_t count, float* max) {
    Vector all = {};
    int64_t i = 0;
    for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
      Vector x;
      load(x, from + i);
      x = x < 0.0F ? Vector(-x) : x;
      all = all > x ? all : x;
    }
    float lanes[kLanes<Vector>], most = 0;
    store(lanes, all);
    for (const float lane : lanes) most = std::max(most, lane);
    for (; i < count; ++i) most = std::max(most, std::abs(from[i]));
    *max = most;
  }
};

/// By row of A, what it is multiplied by; by column, what undoes the scaling of the weights.
struct Scales {
  const float* rows = nullptr;
  const float* columns = nullptr;
};

/// A row of A with its scale; nullptr: a row of zeros, beyond the matrix.
struct ScaledRow {
  const float* elements = nullptr;
  float scale = 0;
};

struct AddRows {
  template <class Vector>
  static ISOMER_INLINE void run(const ScaledRow& a, const ScaledRow& b, int64_t count, float* to) {
    int64_t i = 0;
    for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
      Vector x = {}, y = {};
      if (a.elements != nullptr) load(x, a.elements + i);
      if (b.elements != nullptr) load(y, b.elements + i);
      store(to + i, Vector(a.scale * x + b.scale * y));
    }
    for (; i < count; ++i)
      to[i] =
          (a.elements == nullptr ? 0 : a.scale * a.elements[i]) + (b.elements == nullptr ? 0 : b.scale * b.elements[i]);
  }
};

/// Makes row `row` of the first factor of a product. `a` and `scales` are of the part's first row.
void make_factor_row(const Factor& factor, const Part& part, const float* a, const float* scales, int64_t stride,
                     int64_t row, float* to) {
  const auto row_of = [&](Quarter quarter, int sign) -> ScaledRow {
    if (sign == 0 || row >= (is_lower(quarter) ? part.lower() : part.upper())) return {};
    const int64_t index = is_lower(quarter) ? part.upper() + row : row;
    return {a + index * stride + (is_right(quarter) ? part.depth() : 0), static_cast<float>(sign) * scales[index]};
  };
  dispatch<AddRows>(row_of(factor.first, 1), row_of(factor.second, factor.sign), part.depth(), to);
}

/// What makes sums of products the result.
struct Finish {
  const StrassenArguments& arguments;
  const OwnPosts& posts;
  Scales scales;
  int64_t columns;

  /// Undoes the scaling of rows of a panel, and applies the bias and posts.
  template <class Vector>
  ISOMER_INLINE void apply_to(const Range& rows, int64_t column) const {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float row_scale = 1 / scales.rows[row];
      for (int64_t v = 0; v < kPanelVectors; ++v) {
        const int64_t from = column + v * kLanes<Vector>, at = row * columns + from;
        Vector y, scale;
        load(y, arguments.result + at);
        load(scale, scales.columns + from);
        y = y * row_scale * scale;
        if (arguments.bias != nullptr) {
          Vector bias;
          load(bias, arguments.bias + from);
          y += bias;
        }
        for (const OwnPost& post : posts) apply(post, at, y);
        store(arguments.result + at, y);
      }
    }
  }
};

/// Where a tile of a product is added.
struct Place {
  float* result;  // of the quarter's first row, and the panel's first column
  Range rows;     // of the quarter
  int64_t column;
  int sign;      // 0: the first product that is added, of sign 1; what is there does not count
  bool is_last;  // it becomes the result
};

/// What products with one panel of weights need.
struct Panel {
  int64_t rows, depth, stride;  // of the first factors, and of the result
  const float* factors;         // of the product
  const float* weights;
  const float* next;  // the weights that will be read after these
};

/// Reads a panel of weights ahead, so that memory works all the time: otherwise the first rows of each product would
/// wait for it.
class ReadAhead {
 public:
  static constexpr int64_t kSteps = 4;  // rows of the panel for which lines are read ahead

  /// `rows`: how many rows of A compute with the panel before, a few at a time, each time for a share of it.
  ReadAhead(const float* panel, int64_t rows, int64_t rows_at_once, int64_t width)
      : next_(panel), lines_(divided_up(kSteps * width / kLine, divided_up(rows, rows_at_once))) {}
  void advance() {
    for (int64_t line = 0; line < lines_; ++line, next_ += kLine) __builtin_prefetch(next_);
  }

 private:
  static constexpr int64_t kLine = 16;
  const float* next_;
  const int64_t lines_;
};

/// Adds the products of kRows adjacent rows of a factor with a panel.
template <class Vector, int kRows>
ISOMER_INLINE void add_products(const float* a, int64_t depth, const float* weights, ReadAhead& ahead,
                                Vector (&sums)[kRows][kPanelVectors]) {
  Vector in_registers[kRows][kPanelVectors] = {};
  const auto step = [&](int64_t k) __attribute__((always_inline)) {
    Vector w[kPanelVectors];
#pragma GCC unroll 4
    for (int64_t v = 0; v < kPanelVectors; ++v) load(w[v], weights + (k * kPanelVectors + v) * kLanes<Vector>);
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) add_scaled<Vector>(in_registers[r], w, a[r * depth + k]);
  };
  int64_t k = 0;
  for (; k + ReadAhead::kSteps <= depth; k += ReadAhead::kSteps) {
    ahead.advance();
#pragma GCC unroll 4
    for (int64_t i = 0; i < ReadAhead::kSteps; ++i) step(k + i);
  }
  for (; k < depth; ++k) step(k);
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int64_t v = 0; v < kPanelVectors; ++v) sums[r][v] = in_registers[r][v];
}

struct MultiplyPanel {
  /// Computes the rows of one product, and adds them to one or two quarters.
  template <class Vector>
  static ISOMER_INLINE void run(const Panel& panel, const Place (&places)[2], int64_t count, const Finish& finish) {
    ReadAhead ahead(panel.next, panel.rows, kRowsAtOnce<Vector>, kPanelVectors * kLanes<Vector>);
    by_rows<Vector>(
        panel.rows, [&]<int kRows>(int64_t row) __attribute__((always_inline)) {
          for (int64_t p = 0; p < count; ++p) prefetch<Vector, kRows>(places[p], row, panel.stride);
          Vector sums[kRows][kPanelVectors];
          add_products(panel.factors + row * panel.depth, panel.depth, panel.weights, ahead, sums);
          for (int64_t p = 0; p < count; ++p) {
            const Place& place = places[p];
            add(place, row, panel.stride, sums);
            const int64_t first = place.rows.begin + row, end = std::min<int64_t>(first + kRows, place.rows.end);
            if (place.is_last) finish.apply_to<Vector>({first, end}, place.column);
          }
        });
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void prefetch(const Place& place, int64_t row, int64_t stride) {
    constexpr int64_t kLine = 16;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t i = 0; i < kPanelVectors * kLanes<Vector>; i += kLine)
        __builtin_prefetch(place.result + (row + r) * stride + i, 1);
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void add(const Place& place, int64_t row, int64_t stride,
                                const Vector (&sums)[kRows][kPanelVectors]) {
    float* const to = place.result + row * stride;
    // Where all indices are known, an array stays in registers.
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      if (row + r >= place.rows.size()) break;
#pragma GCC unroll 4
      for (int64_t v = 0; v < kPanelVectors; ++v) {
        float* const at = to + r * stride + v * kLanes<Vector>;
        Vector y = {};
        if (place.sign != 0) load(y, at);
        store(at, Vector(place.sign < 0 ? y - sums[r][v] : y + sums[r][v]));
      }
    }
  }
};

/// Where everything is: scratch memory has the scales of rows before the factors, and packed weights end with those of
/// columns.
struct Places {
  Scales scales;
  float* factors;

  Places(const StrassenProduct& product, const StrassenArguments& arguments)
      : scales{arguments.scratch, arguments.weights + strassen_weights(product) - product.columns},
        factors(arguments.scratch + product.rows) {}
};

/// Makes all products with a panel of each half of the columns. `weights`: of the part's first panel.
void multiply(const StrassenProduct& product, const Part& part, int64_t panel, const float* factors,
              const float* weights, const Finish& finish) {
  const int64_t width = panel_columns(), depth = part.depth();
  std::array<int, 4> before{};  // updates
  for (int64_t p = 0; p < kCount; ++p) {
    Place places[2] = {};
    int64_t count = 0;
    for (const Update& update : kProducts[p].updates) {
      if (update.sign == 0) continue;
      const int64_t middle = part.rows.begin + part.upper();
      const Range rows = is_lower(update.quarter) ? Range{middle, part.rows.end} : Range{part.rows.begin, middle};
      const int64_t column = panel * width + (is_right(update.quarter) ? product.columns / 2 : 0);
      const int earlier = before[update.quarter]++;
      const bool is_first = part.inner.begin == 0 && earlier == 0;
      const bool is_last = part.inner.end == product.inner && earlier + 1 == kUpdates[update.quarter];
      places[count++] = {.result = finish.arguments.result + rows.begin * product.columns + column,
                         .rows = rows,
                         .column = column,
                         .sign = is_first ? 0 : update.sign,
                         .is_last = is_last};
    }
    const float* const of_panel = weights + (panel * kCount + p) * depth * width;
    const Panel one{.rows = part.upper(),
                    .depth = depth,
                    .stride = product.columns,
                    .factors = factors + p * part.upper() * depth,
                    .weights = of_panel,
                    .next = of_panel + depth * width};
    dispatch<MultiplyPanel>(one, places, count, finish);
  }
}

void run_part(const StrassenProduct& product, const Part& part, const StrassenArguments& arguments,
              const OwnPosts& posts) {
  const Places places(product, arguments);
  const int64_t upper = part.upper(), depth = part.depth();
  const float* const a = arguments.a + part.rows.begin * product.inner + part.inner.begin;
  parallel_for(kCount * upper, std::max<int64_t>(kGrain / depth, 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      make_factor_row(kProducts[row / upper].a, part, a, places.scales.rows + part.rows.begin, product.inner,
                      row % upper, places.factors + row * depth);
  });
  const int64_t panels = panels_of(product);
  const float* const weights = arguments.weights + kCount * panels * panel_columns() * (part.inner.begin / 2);
  const Finish finish{arguments, posts, places.scales, product.columns};
  parallel_for(panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) multiply(product, part, panel, places.factors, weights, finish);
  });
}

/// Returns the scales of the columns of weights. `row` and `column` are strides.
std::vector<float> scales_of_columns(const StrassenProduct& product, const float* weights, int64_t row,
                                     int64_t column) {
  std::vector<float> scales(static_cast<size_t>(product.columns), 0);
  for (int64_t k = 0; k < product.inner; ++k)
    for (int64_t c = 0; c < product.columns; ++c) {
      float& max = scales[static_cast<size_t>(c)];
      max = std::max(max, std::abs(weights[k * row + c * column]));
    }
  for (float& scale : scales) scale = scale_for(scale);
  return scales;
}

}  // namespace
}  // namespace strassen

bool has_strassen(const StrassenProduct& product) {
  return product.rows > 0 && product.inner > 0 && product.inner % 2 == 0 && product.columns > 0 &&
         product.columns % (2 * panel_columns()) == 0;
}

int64_t strassen_weights(const StrassenProduct& product) {
  return strassen::kCount * (product.inner / 2) * (product.columns / 2) + product.columns;
}

void pack_strassen_weights(const StrassenProduct& product, bool transposed, const float* from, float* to) {
  const int64_t width = panel_columns(), panels = strassen::panels_of(product);
  const int64_t row = transposed ? 1 : product.columns, column = transposed ? product.inner : 1;  // strides
  const std::vector<float> scales = strassen::scales_of_columns(product, from, row, column);
  for (int64_t i = 0; i < strassen::inner_parts(product); ++i) {
    const Range inner = strassen::inner_part(product, i);
    const int64_t depth = inner.size() / 2;
    float* const of_part = to + strassen::kCount * panels * width * (inner.begin / 2);
    parallel_for(panels * strassen::kCount, 1, [&](int64_t begin, int64_t end) {
      for (int64_t one = begin; one < end; ++one) {
        const strassen::Factor& factor = strassen::kProducts[one % strassen::kCount].b;
        float* out = of_part + one * depth * width;
        const auto element = [&](strassen::Quarter quarter, int64_t k, int64_t c) {
          const int64_t at_row = inner.begin + (strassen::is_lower(quarter) ? depth : 0) + k;
          const int64_t at_column =
              one / strassen::kCount * width + (strassen::is_right(quarter) ? product.columns / 2 : 0) + c;
          return from[at_row * row + at_column * column] * scales[static_cast<size_t>(at_column)];
        };
        for (int64_t k = 0; k < depth; ++k)
          for (int64_t c = 0; c < width; ++c) {
            *out = element(factor.first, k, c);
            if (factor.sign != 0) *out += static_cast<float>(factor.sign) * element(factor.second, k, c);
            ++out;
          }
      }
    });
  }
  float* const inverses = to + strassen_weights(product) - product.columns;
  for (int64_t c = 0; c < product.columns; ++c) inverses[c] = 1 / scales[static_cast<size_t>(c)];
}

int64_t strassen_scratch(const StrassenProduct& product) {
  const int64_t rows = std::min(product.rows, strassen::kMaxRows), inner = std::min(product.inner, strassen::kMaxInner);
  return product.rows + strassen::kCount * divided_up(rows, 2) * divided_up(inner, 2);
}

void run_strassen(const StrassenProduct& product, const StrassenArguments& arguments, const OwnPosts& posts) {
  parallel_for(product.rows, std::max<int64_t>(strassen::kGrain / product.inner, 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float max = 0;
      dispatch<strassen::MaxMagnitude>(arguments.a + row * product.inner, product.inner, &max);
      arguments.scratch[row] = strassen::scale_for(max);
    }
  });
  const int64_t row_parts = divided_up(product.rows, strassen::kMaxRows);
  for (int64_t r = 0; r < row_parts; ++r)
    for (int64_t i = 0; i < strassen::inner_parts(product); ++i)
      strassen::run_part(product, {Range{0, product.rows}.part(r, row_parts, 2), strassen::inner_part(product, i)},
                         arguments, posts);
}

}  // namespace isomer::onednn
