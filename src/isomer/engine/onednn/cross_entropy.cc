#include "isomer/engine/onednn/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vector_functions.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kLogSumGrain = 8192;  // minimum number of scores per thread
constexpr float kNone = -std::numeric_limits<float>::infinity();

/// Loads up to a vector; `kNone`, which adds nothing, stands behind the end.
template <class Vector>
ISOMER_INLINE void load_some(Vector& vector, const float* from, int64_t count) {
  if (count >= kLanes<Vector>) return load(vector, from);
  vector = Vector{} + kNone;
  std::memcpy(&vector, from, static_cast<size_t>(count) * sizeof(float));
}

/// e = e^x for x <= 0; 0 where that is smaller than any normal number.
template <class Vector>
ISOMER_INLINE void exponential_or_none(const Vector& x, Vector& e) {
  constexpr float kSmallest = -87;
  exponential(x, e);
  e = x < kSmallest ? Vector{} : e;
}

template <class Vector>
ISOMER_INLINE void take_larger(Vector& largest, const Vector& x) {
  largest = x > largest ? x : largest;
}

constexpr int kAtOnce = 4;  // vectors of a row: the next one need not wait for the one before

/// The number of scores of a row that fill all vectors that are computed at once.
template <class Vector>
ISOMER_INLINE int64_t whole_part(int64_t count) {
  return count - count % (kAtOnce * kLanes<Vector>);
}

/// Finds the largest score of a row.
template <class Vector>
ISOMER_INLINE void find_largest(const float* from, int64_t count, float& largest) {
  const int64_t whole = whole_part<Vector>(count);
  Vector tops[kAtOnce];
#pragma GCC unroll 4
  for (int v = 0; v < kAtOnce; ++v) tops[v] = Vector{} + kNone;
  for (int64_t i = 0; i < whole; i += kAtOnce * kLanes<Vector>) {
#pragma GCC unroll 4
    for (int v = 0; v < kAtOnce; ++v) {
      Vector x;
      load(x, from + i + v * kLanes<Vector>);
      take_larger(tops[v], x);
    }
  }
  for (int64_t i = whole; i < count; i += kLanes<Vector>) {
    Vector x;
    load_some(x, from + i, count - i);
    take_larger(tops[0], x);
  }
  take_larger(tops[0], tops[1]);
  take_larger(tops[2], tops[3]);
  take_larger(tops[0], tops[2]);
  largest = kNone;
  for (int64_t lane = 0; lane < kLanes<Vector>; ++lane) largest = std::max(largest, tops[0][lane]);
}

/// Adds e^(score - largest) for a row. With kKept, also stores each.
template <class Vector, bool kKept>
ISOMER_INLINE void add_exponentials(const float* from, int64_t count, float largest, float& sum, float* to) {
  const int64_t whole = whole_part<Vector>(count);
  const Vector shift = Vector{} + largest;
  Vector sums[kAtOnce] = {};
  for (int64_t i = 0; i < whole; i += kAtOnce * kLanes<Vector>) {
#pragma GCC unroll 4
    for (int v = 0; v < kAtOnce; ++v) {
      Vector x, e;
      load(x, from + i + v * kLanes<Vector>);
      exponential_or_none(Vector(x - shift), e);
      sums[v] += e;
      if constexpr (kKept) store(to + i + v * kLanes<Vector>, e);
    }
  }
  for (int64_t i = whole; i < count; i += kLanes<Vector>) {
    Vector x, e;
    load_some(x, from + i, count - i);
    exponential_or_none(Vector(x - shift), e);
    sums[0] += e;
    if constexpr (kKept)
      std::memcpy(to + i, &e, static_cast<size_t>(std::min(count - i, kLanes<Vector>)) * sizeof(float));
  }
  const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  sum = 0;
  for (int64_t lane = 0; lane < kLanes<Vector>; ++lane) sum += all[lane];
}

struct RowLogSum {
  template <class Vector>
  ISOMER_INLINE static void run(const float* from, int64_t count, float* largest, float* log) {
    float sum = 0;
    find_largest<Vector>(from, count, *largest);
    add_exponentials<Vector, false>(from, count, *largest, sum, nullptr);
    *log = std::log(sum);
  }
};

struct RowSoftmax {
  template <class Vector>
  ISOMER_INLINE static void run(const float* from, int64_t count, float factor, float* to) {
    float largest = 0, sum = 0;
    find_largest<Vector>(from, count, largest);
    add_exponentials<Vector, true>(from, count, largest, sum, to);
    const float scale = factor / sum;
    int64_t i = 0;
    for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
      Vector x;
      load(x, to + i);
      store(to + i, Vector(x * scale));
    }
    for (; i < count; ++i) to[i] *= scale;
  }
};

/// Of a vector of adjacent pixels, or of fewer.
struct PixelsLogSum {
  static constexpr int64_t kPart = 64;  // classes

  template <class Vector>
  ISOMER_INLINE static void run(const Scores& scores, const float* from, int64_t count, float* largest, float* logs) {
    for (int64_t first = 0; first < count; first += kLanes<Vector>) {
      const int64_t some = std::min(count - first, kLanes<Vector>);
      Vector top = Vector{} + kNone, sum = Vector{};
      for (int64_t c = 0; c < scores.classes; ++c) {
        Vector x;
        load_some(x, from + first + c * scores.pixels, some);
        take_larger(top, x);
      }
      // In parts, so that the rounding error grows more slowly than the number of classes.
      for (int64_t c = 0; c < scores.classes;) {
        Vector part = Vector{};
        for (const int64_t end = std::min(c + kPart, scores.classes); c < end; ++c) {
          Vector x, e;
          load_some(x, from + first + c * scores.pixels, some);
          exponential_or_none(Vector(x - top), e);
          part += e;
        }
        sum += part;
      }
      for (int64_t lane = 0; lane < some; ++lane) {
        largest[first + lane] = top[lane];
        logs[first + lane] = std::log(sum[lane]);
      }
    }
  }
};

}  // namespace

void log_sums(const Scores& scores, const float* from, float* largest, float* logs) {
  const int64_t grain = std::max<int64_t>(kLogSumGrain / std::max<int64_t>(scores.classes, 1), 1);
  if (scores.pixels == 1) {
    parallel_for(scores.batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        dispatch<RowLogSum>(from + row * scores.classes, scores.classes, largest + row, logs + row);
    });
    return;
  }
  constexpr int64_t kPiece = 16;  // pixels, so that threads share no vector
  const int64_t pieces = (scores.pixels + kPiece - 1) / kPiece;
  parallel_for(scores.batch * pieces, std::max<int64_t>(grain / kPiece, 1), [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t image = piece / pieces, first = piece % pieces * kPiece;
      const int64_t at = image * scores.pixels + first;
      dispatch<PixelsLogSum>(scores, from + image * scores.classes * scores.pixels + first,
                             std::min(kPiece, scores.pixels - first), largest + at, logs + at);
    }
  });
}

void scaled_softmax(const float* from, int64_t classes, float factor, float* to) {
  dispatch<RowSoftmax>(from, classes, factor, to);
}

}  // namespace isomer::onednn
