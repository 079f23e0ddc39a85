#pragma once
// Gradients of matrix products, which are matrix products.

#include "isomer/ops/backward.h"

namespace isomer {

void matmul_gradient(Backward& node);
void gemm_gradient(Backward& node);

}  // namespace isomer
