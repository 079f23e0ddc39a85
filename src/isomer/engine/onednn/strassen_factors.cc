#include "isomer/engine/onednn/strassen_factors.h"

#include <cmath>
#include <limits>

#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn::strassen {

float scale_for(float max) {
  constexpr int kMaxExponent = 100;
  if (!std::isfinite(max)) return std::numeric_limits<float>::quiet_NaN();
  if (max == 0) return 1;
  int exponent = 0;
  std::frexp(max, &exponent);
  return std::ldexp(1.0F, std::clamp(-exponent, -kMaxExponent, kMaxExponent));
}

namespace {

struct MaxMagnitude {
  /// The maximum is NaN if an element is infinite or NaN.
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, int64_t count, float* max) {
    Vector all = {}, zeros = {};  // a product of 0 and a number that is not finite is NaN
    int64_t i = 0;
    for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
      Vector x;
      load(x, from + i);
      zeros += 0.0F * x;
      x = x < 0.0F ? Vector(-x) : x;
      all = all > x ? all : x;
    }
    float lanes[kLanes<Vector>], sums[kLanes<Vector>], most = 0, zero = 0;
    store(lanes, all);
    store(sums, zeros);
    for (const float lane : lanes) most = std::max(most, lane);
    for (const float sum : sums) zero += sum;
    for (; i < count; ++i) {
      most = std::max(most, std::abs(from[i]));
      zero += 0.0F * from[i];
    }
    *max = zero == 0 ? most : zero;
  }
};

/// Adjacent elements of A with a scale; nullptr: zeros, beyond the matrix.
struct Span {
  const float* elements = nullptr;
  float scale = 0;
};

struct AddSpans {
  template <class Vector>
  static ISOMER_INLINE void run(const Span& a, const Span& b, int64_t count, float* to) {
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

}  // namespace

void scale_rows(const StrassenProduct& product, const float* a, const Range& rows, float* scales) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    float max = 0;
    dispatch<MaxMagnitude>(a + row * product.inner, product.inner, &max);
    scales[row] = scale_for(max);
  }
}

void make_factor(const StrassenProduct& product, const Part& part, const Factor& factor, const float* a,
                 const float* scales, const Range& block_rows, float* to) {
  const BlockedMatrix matrix(product, product.inner, part.image);
  const FactorLayout factor_layout(product, part);
  const int64_t rows = factor_layout.rows, middle = part.rows.begin + part.upper();
  for (int64_t at = block_rows.begin; at < block_rows.end;) {
    // As many rows as are adjacent and have the same scale.
    int64_t count = scales == nullptr ? std::min(block_rows.end - at, rows - at % rows) : 1;
    const auto span_of = [&](Quarter quarter, int sign) -> Span {
      const Range all = is_lower(quarter) ? Range{middle, part.rows.end} : Range{part.rows.begin, middle};
      if (sign == 0 || at % rows >= all.size()) return {};
      const int64_t row = all.begin + at % rows;
      count = std::min(count, all.end - row);
      const float scale = scales == nullptr ? 1 : scales[row];
      if (std::isnan(scale)) return {};
      const int64_t column =
          part.inner.begin + (is_right(quarter) ? part.depth() : 0) + at / rows * factor_layout.block;
      return {a + matrix.of_row(row) + matrix.of_column(column), static_cast<float>(sign) * scale};
    };
    const Span first = span_of(factor.first, 1), second = span_of(factor.second, factor.sign);
    dispatch<AddSpans>(first, second, count * factor_layout.block, to + at * factor_layout.block);
    at += count;
  }
}

}  // namespace isomer::onednn::strassen
