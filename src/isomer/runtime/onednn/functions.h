#pragma once
// Functions of f32 elements, with the threads that are set. `to` may be `from`.

#include <cstdint>

namespace isomer::onednn {

/// to[i] = erf(from[i]), within 5e-7 of it relatively.
void error_function(const float* from, float* to, int64_t count);

/// to[i] = from[i]^3.
void third_powers(const float* from, float* to, int64_t count);

}  // namespace isomer::onednn
