#pragma once
// Seeded random tensors for runs and comparisons.

#include "isomer/ir/tensor.h"

namespace isomer {

/// Returns a random tensor. Floating-point: standard normal; integers: uniform in [0, 8); bool: fair; string: short
/// words; Field: uniform. The same seed gives the same tensor on every machine.
Tensor random_tensor(DType dtype, const std::vector<int64_t>& dims, uint64_t seed);

}  // namespace isomer
