#include "isomer/engine/onednn/log_sum.h"

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

template <class Vector>
ISOMER_INLINE void take_larger(Vector& largest, const Vector& x) {
  largest = x > largest ? x : largest;
}

/// Of one row of scores.
struct RowLogSum {
  static constexpr int kAtOnce = 4;  // vectors: the next one need not wait for the one before

  template <class Vector>
  ISOMER_INLINE static void run(const float* from, int64_t count, float* largest, float* log) {
    const int64_t whole = count - count % (kAtOnce * kLanes<Vector>);
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
    float top = kNone;
    for (int64_t lane = 0; lane < kLanes<Vector>; ++lane) top = std::max(top, tops[0][lane]);
    const Vector shift = Vector{} + top;

    Vector sums[kAtOnce] = {};
    for (int64_t i = 0; i < whole; i += kAtOnce * kLanes<Vector>) {
#pragma GCC unroll 4
      for (int v = 0; v < kAtOnce; ++v) {
        Vector x, e;
        load(x, from + i + v * kLanes<Vector>);
        exponential(Vector(x - shift), e);
        sums[v] += e;
      }
    }
    for (int64_t i = whole; i < count; i += kLanes<Vector>) {
      Vector x, e;
      load_some(x, from + i, count - i);
      exponential(Vector(x - shift), e);
      sums[0] += e;
    }
    const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    float sum = 0;
    for (int64_t lane = 0; lane < kLanes<Vector>; ++lane) sum += all[lane];
    *largest = top;
    *log = std::log(sum);
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
          exponential(Vector(x - top), e);
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

}  // namespace isomer::onednn
