#include "isomer/engine/onednn/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isomer/engine/onednn/ranges.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kReduceGrain = 8192;  // minimum number of elements per thread
constexpr int64_t kFewColumns = 64;     // adjacent columns that are reduced one vector after the other
constexpr int64_t kManyColumns = 1024;  // maximum number of adjacent columns per piece of work
constexpr int64_t kRows = 128;          // that are summed before the sum is added to others

// What is done to an element, and how two results are combined; for numbers and vectors.
struct Sum {
  static constexpr float kStart = 0;
  template <class Number>
  static ISOMER_INLINE void take(Number& sum, const Number& x) {
    sum += x;
  }
  template <class Number>
  static ISOMER_INLINE void join(Number& sum, const Number& other) {
    sum += other;
  }
};
struct SumOfSquares : Sum {
  template <class Number>
  static ISOMER_INLINE void take(Number& sum, const Number& x) {
    sum += x * x;
  }
};
struct SumOfMagnitudes : Sum {
  template <class Number>
  static ISOMER_INLINE void take(Number& sum, const Number& x) {
    sum += x < Number{} ? -x : x;
  }
};
struct Largest {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  template <class Number>
  static ISOMER_INLINE void take(Number& max, const Number& x) {
    const Number kept = x == x ? max : x;  // NaN stays
    max = x > kept ? x : kept;
  }
  template <class Number>
  static ISOMER_INLINE void join(Number& max, const Number& other) {
    take(max, other);
  }
};
struct Smallest {
  static constexpr float kStart = std::numeric_limits<float>::infinity();
  template <class Number>
  static ISOMER_INLINE void take(Number& min, const Number& x) {
    const Number kept = x == x ? min : x;
    min = x < kept ? x : kept;
  }
  template <class Number>
  static ISOMER_INLINE void join(Number& min, const Number& other) {
    take(min, other);
  }
};

ISOMER_INLINE float finished(float sum, float factor, bool root) {
  sum *= factor;
  return root ? std::sqrt(sum) : sum;
}

/// Reduces rows of contiguous elements, each to one number.
template <class Step>
struct Rows {
  template <class Vector>
  static ISOMER_INLINE void take(Vector& sum, const float* from) {
    Vector x;
    load(x, from);
    Step::take(sum, x);
  }

  template <class Vector>
  static ISOMER_INLINE void run(const float* from, float* to, int64_t rows, int64_t count, float factor, bool root) {
    for (int64_t r = 0; r < rows; ++r, from += count) {
      // Four at a time, since each depends on the previous one.
      Vector first = Vector{} + Step::kStart;
      Vector second = first, third = first, fourth = first;
      int64_t i = 0;
      for (; i + 4 * kLanes<Vector> <= count; i += 4 * kLanes<Vector>) {
        take<Vector>(first, from + i);
        take<Vector>(second, from + i + kLanes<Vector>);
        take<Vector>(third, from + i + 2 * kLanes<Vector>);
        take<Vector>(fourth, from + i + 3 * kLanes<Vector>);
      }
      for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) take<Vector>(first, from + i);
      Step::join(first, second);
      Step::join(third, fourth);
      Step::join(first, third);
      float lanes[kLanes<Vector>];
      store(lanes, first);
      float sum = Step::kStart;
      for (const float lane : lanes) Step::join(sum, lane);
      for (; i < count; ++i) Step::take(sum, from[i]);
      to[r] = finished(sum, factor, root);
    }
  }
};

/// Reduces `width` columns whose elements are `stride` apart, each to one number.
template <class Step>
struct Columns {
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, float* to, int64_t count, int64_t stride, int64_t width,
                                float factor, bool root) {
    int64_t c = 0;
    for (; c + kLanes<Vector> <= width; c += kLanes<Vector>) {
      Vector total = Vector{} + Step::kStart;
      for (int64_t begin = 0; begin < count; begin += kRows) {
        Vector sum = Vector{} + Step::kStart;
        const int64_t end = begin + kRows < count ? begin + kRows : count;
        for (int64_t i = begin; i < end; ++i) {
          Vector x;
          load(x, from + i * stride + c);
          Step::take(sum, x);
        }
        Step::join(total, sum);
      }
      store(to + c, total);
    }
    for (; c < width; ++c) {
      float total = Step::kStart;
      for (int64_t begin = 0; begin < count; begin += kRows) {
        float sum = Step::kStart;
        const int64_t end = begin + kRows < count ? begin + kRows : count;
        for (int64_t i = begin; i < end; ++i) Step::take(sum, from[i * stride + c]);
        Step::join(total, sum);
      }
      to[c] = total;
    }
    for (c = 0; c < width; ++c) to[c] = finished(to[c], factor, root);
  }
};

/// The same for up to kManyColumns, row after row, since memory is read ahead along rows.
template <class Step>
struct ManyColumns {
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, float* to, int64_t count, int64_t stride, int64_t width,
                                float factor, bool root) {
    float part[kManyColumns];
    for (int64_t begin = 0; begin == 0 || begin < count; begin += kRows) {
      const int64_t end = begin + kRows < count ? begin + kRows : count;
      float* const sums = begin == 0 ? to : part;
      for_each<Vector>(
          width, [&]<class Some>(int64_t c)
                     __attribute__((always_inline)) { store(sums + c, Some(Some{} + Step::kStart)); });
      int64_t row = begin;
      for (; row + kTogether <= end; row += kTogether)
        take_rows<Vector, kTogether>(from + row * stride, stride, width, sums);
      for (; row < end; ++row) take_rows<Vector, 1>(from + row * stride, stride, width, sums);
      if (begin > 0)
        for_each<Vector>(
            width, [&]<class Some>(int64_t c) __attribute__((always_inline)) {
              Some total, more;
              load(total, to + c);
              load(more, part + c);
              Step::join(total, more);
              store(to + c, total);
            });
    }
    for_each<Vector>(
        width, [&]<class Some>(int64_t c) __attribute__((always_inline)) {
          Some total;
          load(total, to + c);
          total *= factor;
          store(to + c, total);
        });
    for (int64_t c = 0; root && c < width; ++c) to[c] = std::sqrt(to[c]);
  }

 private:
  static constexpr int kTogether = 4;

  /// Calls `work` for each vector of columns, then for each of the rest.
  template <class Vector, class Work>
  static ISOMER_INLINE void for_each(int64_t width, const Work& work) {
    int64_t c = 0;
    for (; c + kLanes<Vector> <= width; c += kLanes<Vector>) work.template operator()<Vector>(c);
    for (; c < width; ++c) work.template operator()<VectorOf<sizeof(float)>::Type>(c);
  }
  template <class Vector, int kCount>
  static ISOMER_INLINE void take_rows(const float* from, int64_t stride, int64_t width, float* sums) {
    for_each<Vector>(
        width, [&]<class Some>(int64_t c) __attribute__((always_inline)) {
          Some sum;
          load(sum, sums + c);
#pragma GCC unroll 4
          for (int i = 0; i < kCount; ++i) {
            Some x;
            load(x, from + i * stride + c);
            Step::take(sum, x);
          }
          store(sums + c, sum);
        });
  }
};

template <class Step>
void reduce_by(const Reduction& r, const float* from, float* to) {
  if (r.inner == 1) {
    parallel_for(r.outer, std::max<int64_t>(kReduceGrain / std::max<int64_t>(r.count, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   dispatch<Rows<Step>>(from + begin * r.count, to + begin, end - begin, r.count, r.factor, r.root);
                 });
    return;
  }
  const bool many = r.inner > kFewColumns;
  // The threads that work on the same numbers divide their columns.
  const int64_t threads = divided_up(current_threads(), std::max<int64_t>(r.outer, 1));
  const int64_t columns =
      many ? std::clamp(rounded_up(divided_up(r.inner, threads), kLanes<Vector16>), kFewColumns, kManyColumns)
           : r.inner;
  const int64_t pieces = divided_up(r.inner, columns);
  const int64_t grain = std::max<int64_t>(kReduceGrain / std::max<int64_t>(r.count * std::min(r.inner, columns), 1), 1);
  parallel_for(r.outer * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t outer = piece / pieces;
      const int64_t column = piece % pieces * columns;
      const int64_t width = std::min(columns, r.inner - column);
      const float* const first = from + outer * r.count * r.inner + column;
      float* const result = to + outer * r.inner + column;
      if (many)
        dispatch<ManyColumns<Step>>(first, result, r.count, r.inner, width, r.factor, r.root);
      else
        dispatch<Columns<Step>>(first, result, r.count, r.inner, width, r.factor, r.root);
    }
  });
}

}  // namespace

void reduce(const Reduction& reduction, const float* from, float* to) {
  switch (reduction.kind) {
    case Reduction::Kind::Sum:
      return reduce_by<Sum>(reduction, from, to);
    case Reduction::Kind::SumOfSquares:
      return reduce_by<SumOfSquares>(reduction, from, to);
    case Reduction::Kind::SumOfMagnitudes:
      return reduce_by<SumOfMagnitudes>(reduction, from, to);
    case Reduction::Kind::Largest:
      return reduce_by<Largest>(reduction, from, to);
    case Reduction::Kind::Smallest:
      return reduce_by<Smallest>(reduction, from, to);
  }
}

}  // namespace isomer::onednn
