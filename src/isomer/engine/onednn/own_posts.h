#pragma once
// What our own kernels apply to each element of their results before it is stored.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "isomer/engine/onednn/vector_functions.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {

struct OwnPost {
  enum class Kind : uint8_t {
    Sum,      ///< with `scale` times another value in the layout of the result
    Bounds,   ///< the lower one may have a slope below it, then it is 0
    Sigmoid,  ///< of `slope` times the element
    Swish,    ///< the element times that
    Tanh,
    Linear,  ///< `slope` times the element, plus `shift`
    Gelu,
    TanhGelu,  ///< its approximation
  };
  Kind kind = Kind::Sum;
  const float* added = nullptr;
  float low = 0, high = 0;
  float slope = 0;
  float shift = 0;
  float scale = 1;

  /// Returns whether it adds another value.
  bool adds() const { return kind == Kind::Sum; }
};

/// A few posts. Added values have no addresses until a kernel runs.
class OwnPosts {
 public:
  static constexpr size_t kMax = 8;

  /// Returns false if there are too many.
  bool add(const OwnPost& post) {
    if (count_ == kMax) return false;
    posts_[count_++] = post;
    return true;
  }
  /// Sets the address of the value that post `index` adds.
  void locate(size_t index, const float* added) { posts_[index].added = added; }
  /// Sets the factor of that value.
  void scale(size_t index, float factor) { posts_[index].scale = factor; }

  const OwnPost* begin() const { return posts_.data(); }
  const OwnPost* end() const { return posts_.data() + count_; }

 private:
  std::array<OwnPost, kMax> posts_ = {};
  size_t count_ = 0;
};

/// Applies a post to the elements of the result from `at` on.
template <class Vector>
ISOMER_INLINE void apply(const OwnPost& post, int64_t at, Vector& y) {
  switch (post.kind) {
    case OwnPost::Kind::Sum: {
      Vector added;
      load(added, post.added + at);
      y += post.scale * added;
      return;
    }
    case OwnPost::Kind::Bounds: {
      const Vector low = Vector{} + post.low, high = Vector{} + post.high;
      // An infinity times 0 is NaN.
      const Vector below = post.slope == 0 ? low : post.slope * y;
      y = y < low ? below : y;
      y = y > high ? high : y;
      return;
    }
    case OwnPost::Kind::Sigmoid:
      y *= post.slope;
      return sigmoid(y);
    case OwnPost::Kind::Swish: {
      Vector factor = y * post.slope;
      sigmoid(factor);
      // An infinity times 0 is NaN.
      y = factor == 0.0F ? Vector{} : y * factor;
      return;
    }
    case OwnPost::Kind::Tanh:
      return hyperbolic_tangent(y);
    case OwnPost::Kind::Linear:
      y = post.slope * y + post.shift;
      return;
    case OwnPost::Kind::Gelu: {
      constexpr float kHalfRoot = 0.70710678F;  // of 2
      Vector factor = kHalfRoot * y;
      error_function(factor);
      y = 0.5F * y * (factor + 1.0F);
      return;
    }
    case OwnPost::Kind::TanhGelu: {
      constexpr float kRoot = 0.79788456F;  // of 2 / pi
      Vector factor = kRoot * y * (1.0F + 0.044715F * (y * y));
      hyperbolic_tangent(factor);
      y = 0.5F * y * (factor + 1.0F);
      return;
    }
  }
}

}  // namespace isomer::onednn
