#include "isomer/engine/onednn/strassen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "isomer/engine/onednn/strassen_factors.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace strassen {
namespace {

constexpr int64_t kGrain = 16'384;  // minimum number of elements that a thread adds

/// By row of A, what it is multiplied by (nullptr: by 1); by column, what undoes the scaling of the weights.
struct Scales {
  const float* rows = nullptr;
  const float* columns = nullptr;
};

/// Where a tile of a product is added.
struct Place {
  Range rows;                      // of the quarter
  int64_t column;                  // the panel's first one
  int64_t vectors[kPanelVectors];  // the offsets of the panel's vectors in the first row
  int sign;                        // 0: the first product that is added, of sign 1; what is there does not count
  bool is_last;                    // it becomes the result
};

/// What makes sums of products the result.
struct Finish {
  const StrassenArguments& arguments;
  const OwnPosts& posts;
  Scales scales;
  BlockedMatrix result;

  /// Undoes the scaling of rows of a panel, and applies the bias and posts.
  template <class Vector>
  ISOMER_INLINE void apply_to(const Place& place, const Range& rows) const {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float row_scale = scales.rows == nullptr ? 1 : 1 / scales.rows[row];
      const int64_t of_row = result.of_row(row);
      for (int64_t v = 0; v < kPanelVectors; ++v) {
        const int64_t column = place.column + v * kLanes<Vector>, at = of_row + place.vectors[v];
        Vector y, scale;
        load(y, arguments.result + at);
        load(scale, scales.columns + column);
        y = y * row_scale * scale;
        if (arguments.bias != nullptr) {
          Vector bias;
          load(bias, arguments.bias + column);
          y += bias;
        }
        for (const OwnPost& post : posts) apply(post, at, y);
        store(arguments.result + at, y);
      }
    }
  }
};

/// What a product with one panel of weights needs.
struct Panel {
  FactorLayout layout;
  const float* factor;
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

/// Computes the products of kRows adjacent rows of a factor with a panel.
template <class Vector, int kRows>
ISOMER_INLINE void multiply_rows(const Panel& panel, int64_t row, ReadAhead& ahead,
                                 Vector (&sums)[kRows][kPanelVectors]) {
  const int64_t block = panel.layout.block;
  const float* a = panel.factor + row * block;
  const float* weights = panel.weights;
  Vector in_registers[kRows][kPanelVectors] = {};
  const auto step = [&](int64_t k) __attribute__((always_inline)) {
    Vector w[kPanelVectors];
#pragma GCC unroll 4
    for (int64_t v = 0; v < kPanelVectors; ++v) load(w[v], weights + v * kLanes<Vector>);
    weights += kPanelVectors * kLanes<Vector>;
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) add_scaled<Vector>(in_registers[r], w, a[r * block + k]);
  };
  for (int64_t begin = 0; begin < panel.layout.depth; begin += block, a += panel.layout.rows * block) {
    int64_t k = 0;
    for (; k + ReadAhead::kSteps <= block; k += ReadAhead::kSteps) {
      ahead.advance();
#pragma GCC unroll 4
      for (int64_t i = 0; i < ReadAhead::kSteps; ++i) step(k + i);
    }
    for (; k < block; ++k) step(k);
  }
#pragma GCC unroll 6
  for (int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int64_t v = 0; v < kPanelVectors; ++v) sums[r][v] = in_registers[r][v];
}

/// Computes the rows of one product, and adds them to one or two quarters.
struct MultiplyPanel {
  template <class Vector>
  static ISOMER_INLINE void run(const Panel& panel, const Place (&places)[2], int64_t count, const Finish& finish) {
    ReadAhead ahead(panel.next, panel.layout.rows, kRowsAtOnce<Vector>, kPanelVectors * kLanes<Vector>);
    by_rows<Vector>(
        panel.layout.rows, [&]<int kRows>(int64_t row) __attribute__((always_inline)) {
          for (int64_t p = 0; p < count; ++p) prefetch<Vector, kRows>(places[p], row, finish);
          Vector sums[kRows][kPanelVectors];
          multiply_rows(panel, row, ahead, sums);
          for (int64_t p = 0; p < count; ++p) {
            const Place& place = places[p];
            add(place, row, finish, sums);
            const int64_t first = place.rows.begin + row, end = std::min<int64_t>(first + kRows, place.rows.end);
            if (place.is_last) finish.apply_to<Vector>(place, {first, end});
          }
        });
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void prefetch(const Place& place, int64_t row, const Finish& finish) {
    const int64_t end = std::min<int64_t>(row + kRows, place.rows.size());
    for (int64_t r = row; r < end; ++r) {
      const float* const from = finish.arguments.result + finish.result.of_row(place.rows.begin + r);
#pragma GCC unroll 4
      for (int64_t v = 0; v < kPanelVectors; ++v) __builtin_prefetch(from + place.vectors[v], 1);
    }
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void add(const Place& place, int64_t row, const Finish& finish,
                                const Vector (&sums)[kRows][kPanelVectors]) {
    // Where all indices are known, an array stays in registers.
#pragma GCC unroll 6
    for (int64_t r = 0; r < kRows; ++r) {
      if (row + r >= place.rows.size()) break;
      float* const to = finish.arguments.result + finish.result.of_row(place.rows.begin + row + r);
#pragma GCC unroll 4
      for (int64_t v = 0; v < kPanelVectors; ++v) {
        Vector y = {};
        if (place.sign != 0) load(y, to + place.vectors[v]);
        store(to + place.vectors[v], Vector(place.sign < 0 ? y - sums[r][v] : y + sums[r][v]));
      }
    }
  }
};

/// A product of a factor with a panel of each half of the columns.
struct Step {
  int64_t number, panel;  // of the product, and of the panel
};

/// Whether each product is made with all panels before the next one. Then there is only one factor at a time, which
/// stays in a cache, but all columns of the result are read and written repeatedly.
bool goes_by_product(const StrassenProduct& product) {
  constexpr int64_t kMaxResult = 131'072;  // elements that stay in a second-level cache
  return std::min(rows_of(product), kRowsOfPart) * product.columns <= kMaxResult;
}

/// What the steps of a part need.
struct Work {
  const StrassenProduct& product;
  const Part& part;
  float* factors;
  const float* weights;  // of the part
  const Finish& finish;
  FactorLayout layout{product, part};

  const float* panel_of(const Step& step) const {
    return weights + (step.panel * kCount + step.number) * layout.depth * panel_columns();
  }
  void make(int64_t p, const Range& block_rows, float* to) const {
    make_factor(product, part, kProducts[p].a, finish.arguments.a, finish.scales.rows, block_rows, to);
  }

  void multiply(const Step& step, const Step& next, const float* factor) const {
    const int64_t width = panel_columns(), middle = part.rows.begin + part.upper();
    Place places[2] = {};
    int64_t count = 0;
    for (const Update& update : kProducts[step.number].updates) {
      if (update.sign == 0) continue;
      const int earlier = updates_before(step.number, update.quarter);
      const bool is_first = part.inner.begin == 0 && earlier == 0;
      Place& place = places[count++];
      place = {.rows = is_lower(update.quarter) ? Range{middle, part.rows.end} : Range{part.rows.begin, middle},
               .column = step.panel * width + (is_right(update.quarter) ? product.columns / 2 : 0),
               .vectors = {},
               .sign = is_first ? 0 : update.sign,
               .is_last = part.inner.end == product.inner && earlier + 1 == updates_before(kCount, update.quarter)};
      for (int64_t v = 0; v < kPanelVectors; ++v)
        place.vectors[v] = finish.result.of_column(place.column + v * (width / kPanelVectors));
    }
    dispatch<MultiplyPanel>(Panel{layout, factor, panel_of(step), panel_of(next)}, places, count, finish);
  }

  /// Makes all products with some panels. `alone`: their factors too, one after the other.
  void multiply_all(const Range& panels, bool by_product, bool alone) const {
    const int64_t count = kCount * panels.size();
    const auto step = [&](int64_t i) -> Step {
      if (by_product) return {i / panels.size(), panels.begin + i % panels.size()};
      return {i % kCount, panels.begin + i / kCount};
    };
    for (int64_t i = 0; i < count; ++i) {
      const Step now = step(i);
      if (alone && now.panel == panels.begin) make(now.number, {0, layout.block_rows()}, factors);
      multiply(now, step(std::min(i + 1, count - 1)), alone ? factors : factors + now.number * layout.size());
    }
  }
};

/// `factors` has room for one factor if one thread goes by product, otherwise for all.
void run_part(const StrassenProduct& product, const Part& part, float* factors, const float* weights,
              const Finish& finish, int threads) {
  const Work work{product, part, factors, weights + kCount * (part.inner.begin / 2) * (product.columns / 2), finish};
  const bool by_product = goes_by_product(product);
  if (by_product && threads == 1) return work.multiply_all({0, panels_of(product)}, true, true);
  const int64_t block_rows = work.layout.block_rows();
  parallel_for(kCount * block_rows, std::max<int64_t>(kGrain / work.layout.block, 1), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin / block_rows; p * block_rows < end; ++p) {
      const Range range{std::max(begin - p * block_rows, int64_t{0}), std::min(end - p * block_rows, block_rows)};
      work.make(p, range, factors + p * work.layout.size());
    }
  });
  parallel_for(panels_of(product), 1, [&](int64_t begin, int64_t end) {
    work.multiply_all({begin, end}, by_product, false);
  });
}

/// Returns the scales of the columns of weights; NaN for a column with an element that is not finite. `row` and
/// `column` are strides.
std::vector<float> scales_of_columns(const StrassenProduct& product, const float* weights, int64_t row,
                                     int64_t column) {
  std::vector<float> scales(static_cast<size_t>(product.columns), 0);
  const auto take = [&](int64_t k, int64_t c) {
    float& max = scales[static_cast<size_t>(c)];
    const float magnitude = std::abs(weights[k * row + c * column]);
    max = std::isnan(magnitude) ? std::numeric_limits<float>::infinity() : std::max(max, magnitude);
  };
  if (column == 1) {
    for (int64_t k = 0; k < product.inner; ++k)
      for (int64_t c = 0; c < product.columns; ++c) take(k, c);
  } else {
    for (int64_t c = 0; c < product.columns; ++c)
      for (int64_t k = 0; k < product.inner; ++k) take(k, c);
  }
  for (float& scale : scales) scale = scale_for(scale);
  return scales;
}

/// Returns a weight with its column's scale; 0 if that is NaN.
float scaled(float weight, float scale) { return std::isnan(scale) ? 0 : weight * scale; }

}  // namespace
}  // namespace strassen

bool has_strassen(const StrassenProduct& product) {
  const int64_t block = product.pixels == 0 ? 1 : native_block();
  return product.rows > 0 && product.inner > 0 && product.inner % (2 * block) == 0 && product.columns > 0 &&
         product.columns % (2 * panel_columns()) == 0;
}

bool is_worth_strassen(const StrassenProduct& product) {
  constexpr int64_t kMinRows = 32, kMinInner = 256;
  return strassen::rows_of(product) >= kMinRows && product.inner >= kMinInner && has_strassen(product);
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
        const auto first_column = [&](strassen::Quarter quarter) {
          return one / strassen::kCount * width + (strassen::is_right(quarter) ? product.columns / 2 : 0);
        };
        const auto start = [&](strassen::Quarter quarter) {
          const int64_t first_row = inner.begin + (strassen::is_lower(quarter) ? depth : 0);
          return from + first_row * row + first_column(quarter) * column;
        };
        const float* const x = start(factor.first);
        const float* const y = start(factor.second);
        const float* const x_scales = scales.data() + first_column(factor.first);
        const float* const y_scales = scales.data() + first_column(factor.second);
        const auto sign = static_cast<float>(factor.sign);
        float* out = of_part + one * depth * width;
        for (int64_t k = 0; k < depth; ++k, out += width)
          for (int64_t c = 0; c < width; ++c) {
            const int64_t at = k * row + c * column;
            out[c] = strassen::scaled(x[at], x_scales[c]);
            if (factor.sign != 0) out[c] += sign * strassen::scaled(y[at], y_scales[c]);
          }
      }
    });
  }
  float* const inverses = to + strassen_weights(product) - product.columns;
  for (int64_t c = 0; c < product.columns; ++c) inverses[c] = 1 / scales[static_cast<size_t>(c)];
}

namespace strassen {
namespace {

int64_t scale_count(const StrassenProduct& product) { return product.pixels == 0 ? product.rows : 0; }

}  // namespace
}  // namespace strassen

int64_t strassen_scratch(const StrassenProduct& product, int threads) {
  const int64_t rows = std::min(strassen::rows_of(product), strassen::kRowsOfPart),
                inner = std::min(product.inner, strassen::kInnerOfPart);
  return strassen::scale_count(product) + (threads == 1 && strassen::goes_by_product(product) ? 1 : strassen::kCount) *
                                              divided_up(rows, 2) * divided_up(inner, 2);
}

void run_strassen(const StrassenProduct& product, const StrassenArguments& arguments, const OwnPosts& posts,
                  int threads) {
  const bool scales = strassen::scale_count(product) > 0;
  if (scales)
    parallel_for(product.rows, std::max<int64_t>(strassen::kGrain / product.inner, 1), [&](int64_t begin, int64_t end) {
      strassen::scale_rows(product, arguments.a, {begin, end}, arguments.scratch);
    });
  const float* const columns = arguments.weights + strassen_weights(product) - product.columns;
  float* const factors = arguments.scratch + strassen::scale_count(product);
  const int64_t rows = strassen::rows_of(product), row_parts = divided_up(rows, strassen::kRowsOfPart);
  for (int64_t image = 0; image < strassen::images_of(product); ++image) {
    const strassen::Finish finish{arguments,
                                  posts,
                                  {scales ? arguments.scratch : nullptr, columns},
                                  strassen::BlockedMatrix(product, product.columns, image)};
    for (int64_t r = 0; r < row_parts; ++r)
      for (int64_t i = 0; i < strassen::inner_parts(product); ++i)
        strassen::run_part(product, {image, Range{0, rows}.part(r, row_parts, 2), strassen::inner_part(product, i)},
                           factors, arguments.weights, finish, threads);
  }
}

}  // namespace isomer::onednn
