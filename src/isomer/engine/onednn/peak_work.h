#pragma once
// Work that one part of the processor limits, to measure how much of it that part can do.

#include <algorithm>
#include <cstdint>

#include "isomer/base/stopwatch.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {

/// Bytes of which caches hold a small part at most.
constexpr int64_t kBeyondCaches = 256 << 20;

/// Independent results in registers: enough for two units, each of which begins one operation per cycle and ends it up
/// to six cycles later.
constexpr int kChains = 12;

template <class Vector>
ISOMER_INLINE float sum_of(const Vector (&vectors)[kChains]) {
  Vector all{};
  for (const Vector& vector : vectors) all += vector;
  float elements[kLanes<Vector>], sum = 0;
  store(elements, all);
  for (const float element : elements) sum += element;
  return sum;
}

/// Multiplies and adds in registers.
struct MultiplyAdd {
  /// Stores a result, so that nothing can be left out.
  template <class Vector>
  static ISOMER_INLINE void run(int64_t rounds, float factor, float* result) {
    const Vector x = Vector{} + factor;
    Vector sums[kChains];
    for (int i = 0; i < kChains; ++i) sums[i] = x * static_cast<float>(i);  // different, so that none is left out
    for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
      for (Vector& sum : sums) sum = sum * x + x;
    }
    *result = sum_of(sums);
  }
};

/// Reads `count` floats, so many times.
struct Read {
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, int64_t count, int64_t times, float* result) {
    constexpr int64_t kStep = kChains * kLanes<Vector>;
    Vector sums[kChains] = {};
    for (int64_t time = 0; time < times; ++time) {
      for (int64_t i = 0; i + kStep <= count; i += kStep) {
#pragma GCC unroll 12
        for (int v = 0; v < kChains; ++v) {
          Vector next;
          load(next, from + i + v * kLanes<Vector>);
          sums[v] += next;
        }
      }
    }
    *result = sum_of(sums);
  }
};

/// Returns the seconds of the fastest of several calls; other programs can only make one slower.
template <class Work>
double fastest(int calls, const Work& work) {
  double best = 0;
  for (int call = 0; call < calls; ++call) {
    const Stopwatch watch;
    work();
    best = call == 0 ? watch.seconds() : std::min(best, watch.seconds());
  }
  return best;
}

}  // namespace isomer::onednn
