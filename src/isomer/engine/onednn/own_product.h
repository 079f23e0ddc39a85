#pragma once
// Products of two computed matrices by our own kernel, as a choice of plans.

#include <optional>

#include "isomer/engine/onednn/matmul_problem.h"
#include "isomer/engine/onednn/matrix_product.h"

namespace isomer::onednn {

struct OwnProduct {
  MatrixProduct product;
  /// As they lie, or row-major if our kernel cannot read that, or if B is transposed and read several times.
  Desc a, b;
  PostOps posts;
  OwnPosts own_posts;
};

/// Returns how many nodes read a value after a change to this layout: all its readers if that is row-major, else the
/// products whose second operand it is.
int64_t sharing_change(const Builder& builder, ValueId value, const Desc& layout);

/// Returns the product by our own kernel; nothing if it does not compute it: other elements than f32, batches of B,
/// posts that it does not have, or only a few rows or columns.
std::optional<OwnProduct> own_product(Builder& builder, const MatMulProblem& problem);

/// Returns the kernel to be timed. `key`: of the problem. `own` must outlive it.
Contender contender(const OwnProduct& own, const std::string& key);

void lower_own_product(Builder& builder, const Group& group, const MatMulProblem& problem, const OwnProduct& own);

}  // namespace isomer::onednn
