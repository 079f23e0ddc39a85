#pragma once
// Helpers for tests of our own kernels.

#include <cstdint>
#include <limits>
#include <vector>

#include "isomer/base/rng.h"

namespace isomer::onednn {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Floats = std::vector<float>;

/// Returns numbers in [-1, 1).
inline Floats random_floats(Rng& rng, int64_t count) {
  Floats out(static_cast<size_t>(count));
  for (float& x : out) x = static_cast<float>(2 * rng.uniform() - 1);
  return out;
}

/// Returns a number in [1, max].
inline int64_t up_to(Rng& rng, int64_t max) { return rng.between(1, max); }

}  // namespace isomer::onednn
