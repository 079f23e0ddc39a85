#pragma once
// Gradients of matrix products, which are matrix products.

#include "isomer/ops/backward.h"

namespace isomer {

/// The product of matrices, or of each pair of them.
GraphValue matmul(const GraphValue& a, const GraphValue& b);
/// Each matrix transposed.
GraphValue matrices_transposed(const GraphValue& x);
/// All rows of all matrices as one matrix; only the number of rows may be unknown.
GraphValue rows_of(const GraphValue& x);

void matmul_gradient(Backward& node);
void gemm_gradient(Backward& node);

}  // namespace isomer
