#include "isomer/engine/onednn/functions.h"

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vector_functions.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kFunctionGrain = 2048;  // minimum number of elements per thread

struct Erf {
  template <class Number>
  static ISOMER_INLINE void of(Number& x) {
    error_function(x);
  }
};

struct Cube {
  template <class Number>
  static ISOMER_INLINE void of(Number& x) {
    x = x * x * x;
  }
};

/// Applies Function::of to every element.
template <class Function>
struct Each {
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, float* to, int64_t count) {
    int64_t i = 0;
    for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
      Vector x;
      load(x, from + i);
      Function::of(x);
      store(to + i, x);
    }
    for (; i < count; ++i) {
      float x = from[i];
      Function::of(x);
      to[i] = x;
    }
  }
};

template <class Function>
void apply_to_each(const float* from, float* to, int64_t count) {
  parallel_for(count, kFunctionGrain,
               [&](int64_t begin, int64_t end) { dispatch<Each<Function>>(from + begin, to + begin, end - begin); });
}

}  // namespace

void error_function(const float* from, float* to, int64_t count) { apply_to_each<Erf>(from, to, count); }
void third_powers(const float* from, float* to, int64_t count) { apply_to_each<Cube>(from, to, count); }

}  // namespace isomer::onednn
