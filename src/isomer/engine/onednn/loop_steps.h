#pragma once
// The steps of loops, over a few hundred elements.

#include <immintrin.h>

#include "isomer/engine/onednn/loop.h"
#include "isomer/engine/onednn/vector_functions.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn::loop_steps {

// What a step does to a vector. Conditions have the bits of numbers, so that registers have one type.
template <class Vector>
using MaskOf = decltype(Vector{} < Vector{});
template <class Vector>
ISOMER_INLINE void to_mask(MaskOf<Vector>& mask, const Vector& bits) {
  std::memcpy(&mask, &bits, sizeof(Vector));
}
template <class Vector>
ISOMER_INLINE void from_mask(Vector& bits, const MaskOf<Vector>& mask) {
  std::memcpy(&bits, &mask, sizeof(Vector));
}

struct Copy {
  template <class Vector>
  static ISOMER_INLINE void of(Vector&) {}
};
struct Neg {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    x = -x;
  }
};
struct Abs {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    MaskOf<Vector> bits;
    to_mask(bits, x);
    bits &= INT32_MAX;
    from_mask(x, bits);
  }
};
/// The square of e^(x / 2), whose exponent does not overflow before the result does.
struct Exp {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    Vector root;
    exponential(Vector(x * 0.5F), root);
    x = root * root;
  }
};
struct Reciprocal {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    x = 1.0F / x;
  }
};
struct Sigmoid {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    sigmoid(x);
  }
};
struct Tanh {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    hyperbolic_tangent(x);
  }
};
struct Erf {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    error_function(x);
  }
};
struct Square {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    x = x * x;
  }
};
struct Cube {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    x = x * x * x;
  }
};
struct Linear {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, float alpha, float beta) {
    x = alpha * x + beta;
  }
};
struct Clip {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, float alpha, float beta) {
    const Vector low = Vector{} + alpha, high = Vector{} + beta;
    x = x < low ? low : x;
    x = x > high ? high : x;
  }
};
struct LeakyRelu {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, float alpha, float) {
    x = x < Vector{} ? Vector(alpha * x) : x;
  }
};

struct Add {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    x = x + y;
  }
};
struct Sub {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    x = x - y;
  }
};
struct Mul {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    x = x * y;
  }
};
struct Div {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    x = x / y;
  }
};
/// NaN if either is.
struct Max {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    Vector larger = x > y ? x : y;
    hide_origin(larger);
    x = x != x ? x : larger;
  }
};
struct Min {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    Vector smaller = x < y ? x : y;
    hide_origin(smaller);
    x = x != x ? x : smaller;
  }
};
struct Equal {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    from_mask(x, x == y);
  }
};
struct Greater {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    from_mask(x, x > y);
  }
};
struct GreaterOrEqual {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    from_mask(x, x >= y);
  }
};
struct IsNotZero {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    from_mask(x, x != Vector{});
  }
};
struct Not {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    MaskOf<Vector> mask;
    to_mask(mask, x);
    from_mask(x, MaskOf<Vector>(~mask));
  }
};
struct ToNumber {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    MaskOf<Vector> mask;
    to_mask(mask, x);
    x = mask != 0 ? Vector{} + 1.0F : Vector{};
  }
};
struct And {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    MaskOf<Vector> a, b;
    to_mask(a, x);
    to_mask(b, y);
    from_mask(x, MaskOf<Vector>(a & b));
  }
};
struct Or {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    MaskOf<Vector> a, b;
    to_mask(a, x);
    to_mask(b, y);
    from_mask(x, MaskOf<Vector>(a | b));
  }
};
struct Xor {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x, const Vector& y) {
    MaskOf<Vector> a, b;
    to_mask(a, x);
    to_mask(b, y);
    from_mask(x, MaskOf<Vector>(a ^ b));
  }
};

// Square roots need the processor's instruction, which only functions for that processor may name.
template <class Vector>
inline void square_roots(const float* from, float* to, int64_t count);
template <>
__attribute__((target("avx512f"))) inline void square_roots<Vector16>(const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += 16)
    _mm512_storeu_ps(to + i, _mm512_maskz_sqrt_ps(0xFFFF, _mm512_loadu_ps(from + i)));
}
template <>
__attribute__((target("avx2"))) inline void square_roots<Vector8>(const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += 8) _mm256_storeu_ps(to + i, _mm256_sqrt_ps(_mm256_loadu_ps(from + i)));
}
template <>
inline void square_roots<Vector4>(const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += 4) _mm_storeu_ps(to + i, _mm_sqrt_ps(_mm_loadu_ps(from + i)));
}

// Over `count` elements, a multiple of the vector's.
template <class Vector, class Step>
ISOMER_INLINE void each(const float* x, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes<Vector>) {
    Vector a;
    load(a, x + i);
    Step::of(a);
    store(to + i, a);
  }
}
template <class Vector, class Step>
ISOMER_INLINE void each_with(const float* x, float* to, int64_t count, float alpha, float beta) {
  for (int64_t i = 0; i < count; i += kLanes<Vector>) {
    Vector a;
    load(a, x + i);
    Step::of(a, alpha, beta);
    store(to + i, a);
  }
}
template <class Vector, class Step>
ISOMER_INLINE void each_pair(const float* x, const float* y, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes<Vector>) {
    Vector a, b;
    load(a, x + i);
    load(b, y + i);
    Step::of(a, b);
    store(to + i, a);
  }
}
template <class Vector>
ISOMER_INLINE void select(const float* condition, const float* x, const float* y, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes<Vector>) {
    Vector bits, a, b;
    load(bits, condition + i);
    load(a, x + i);
    load(b, y + i);
    MaskOf<Vector> mask;
    to_mask(mask, bits);
    a = mask != 0 ? a : b;
    store(to + i, a);
  }
}

/// Performs one step on `count` elements, a multiple of the vector's.
template <class Vector>
ISOMER_INLINE void perform(const LoopStep& step, const float* x, const float* y, const float* z, float* to, int64_t n) {
  switch (step.op) {
    case LoopOp::Copy:
      return each<Vector, Copy>(x, to, n);
    case LoopOp::Neg:
      return each<Vector, Neg>(x, to, n);
    case LoopOp::Abs:
      return each<Vector, Abs>(x, to, n);
    case LoopOp::Sqrt:
      return square_roots<Vector>(x, to, n);
    case LoopOp::Exp:
      return each<Vector, Exp>(x, to, n);
    case LoopOp::Reciprocal:
      return each<Vector, Reciprocal>(x, to, n);
    case LoopOp::Sigmoid:
      return each<Vector, Sigmoid>(x, to, n);
    case LoopOp::Tanh:
      return each<Vector, Tanh>(x, to, n);
    case LoopOp::Erf:
      return each<Vector, Erf>(x, to, n);
    case LoopOp::Square:
      return each<Vector, Square>(x, to, n);
    case LoopOp::Cube:
      return each<Vector, Cube>(x, to, n);
    case LoopOp::Linear:
      return each_with<Vector, Linear>(x, to, n, step.alpha, step.beta);
    case LoopOp::Clip:
      return each_with<Vector, Clip>(x, to, n, step.alpha, step.beta);
    case LoopOp::LeakyRelu:
      return each_with<Vector, LeakyRelu>(x, to, n, step.alpha, step.beta);
    case LoopOp::Add:
      return each_pair<Vector, Add>(x, y, to, n);
    case LoopOp::Sub:
      return each_pair<Vector, Sub>(x, y, to, n);
    case LoopOp::Mul:
      return each_pair<Vector, Mul>(x, y, to, n);
    case LoopOp::Div:
      return each_pair<Vector, Div>(x, y, to, n);
    case LoopOp::Max:
      return each_pair<Vector, Max>(x, y, to, n);
    case LoopOp::Min:
      return each_pair<Vector, Min>(x, y, to, n);
    case LoopOp::Equal:
      return each_pair<Vector, Equal>(x, y, to, n);
    case LoopOp::Greater:
      return each_pair<Vector, Greater>(x, y, to, n);
    case LoopOp::GreaterOrEqual:
      return each_pair<Vector, GreaterOrEqual>(x, y, to, n);
    case LoopOp::IsNotZero:
      return each<Vector, IsNotZero>(x, to, n);
    case LoopOp::Not:
      return each<Vector, Not>(x, to, n);
    case LoopOp::And:
      return each_pair<Vector, And>(x, y, to, n);
    case LoopOp::Or:
      return each_pair<Vector, Or>(x, y, to, n);
    case LoopOp::Xor:
      return each_pair<Vector, Xor>(x, y, to, n);
    case LoopOp::Select:
      return select<Vector>(x, y, z, to, n);
    case LoopOp::ToNumber:
      return each<Vector, ToNumber>(x, to, n);
  }
}

}  // namespace isomer::onednn::loop_steps
