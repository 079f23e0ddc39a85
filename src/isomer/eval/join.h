#pragma once
// Joins tensors.

#include <span>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// Returns the concatenation of tensors along an axis. Fails if they do not fit together.
Result<Tensor> joined(std::span<const Tensor> parts, int64_t axis);

}  // namespace isomer
