#pragma once
// Functions of f32 elements, with the current number of threads. `to` may be `from`.

#include <cstdint>

namespace isomer::onednn {

/// to[i] = erf(from[i]), with a relative error of at most 5e-7.
void error_function(const float* from, float* to, int64_t count);

/// to[i] = from[i]^3.
void third_powers(const float* from, float* to, int64_t count);

}  // namespace isomer::onednn
