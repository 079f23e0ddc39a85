#pragma once
// The error function of f32 elements.

#include <cstdint>

namespace isomer::onednn {

/// to[i] = erf(from[i]), within 5e-7 of it relatively; with the threads that are set. `to` may be `from`.
void error_function(const float* from, float* to, int64_t count);

}  // namespace isomer::onednn
