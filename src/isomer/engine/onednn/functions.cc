#include "isomer/engine/onednn/functions.h"

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kFunctionGrain = 2048;  // minimum number of elements per thread

// erf(x) = x P(x^2) / Q(x^2) for |x| <= 4; beyond, it is 1 in f32. The coefficients minimize the relative error
// (2.5e-8), by weighted least squares whose weights follow the error.
constexpr float kLimit = 4;
constexpr float kNumerator[] = {1.128379106521606F,    0.19354356825351715F,  0.05310149863362312F,
                                0.003883265657350421F, 0.000284561887383461F, 1.986765710171312e-06F};
constexpr float kDenominator[] = {1,
                                  0.5048561096191406F,
                                  0.11534933745861053F,
                                  0.015207096934318542F,
                                  0.0011855477932840586F,
                                  3.741978798643686e-05F};

template <class Number>
ISOMER_INLINE void evaluate(Number& sum, const Number& x, const float (&coefficients)[6]) {
  sum = Number{} + coefficients[5];
  for (int i = 5; i-- > 0;) sum = sum * x + coefficients[i];
}

template <class Number>
ISOMER_INLINE void erf_of(Number& x) {
  const Number limit = Number{} + kLimit;
  const Number one = Number{} + 1.0F;
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  const Number square = x * x;
  Number over, under;
  evaluate(over, square, kNumerator);
  evaluate(under, square, kDenominator);
  x = x * over / under;
  x = x > one ? one : x;
  x = x < -one ? -one : x;
}

struct Erf {
  template <class Number>
  static ISOMER_INLINE void of(Number& x) {
    erf_of(x);
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
