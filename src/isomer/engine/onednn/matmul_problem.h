#pragma once
// Matrix products as oneDNN's primitives see them: what their lowerings have in common.

#include <optional>
#include <span>
#include <string>

#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {

/// A product: operands as the primitive sees them, and the vector that is added to every row.
struct MatMulProblem {
  ValueId a = kNoValue;
  ValueId b = kNoValue;
  Dims a_dims = {}, b_dims = {}, dst = {};       // as the primitive sees them
  std::optional<Tensor> weights = std::nullopt;  // B, if it is a constant matrix
  bool transposed = false;                       // of `weights`: [n, k]
  ValueId bias = kNoValue;                       // a vector over the last axis
  std::span<const Post> posts = {};              // without the one that became the bias
  ElementType type = kF32;                       // of the operands
  ElementType dst_type = kF32;
};

/// Return the product that a MatMul, or a Gemm, and its posts are; nothing if oneDNN's primitive does not compute it,
/// such as one with alpha or with a transposed A.
std::optional<MatMulProblem> read_matmul(const Graph& graph, const Group& group);
std::optional<MatMulProblem> read_gemm(const Graph& graph, const Group& group);

/// Joins the leading axes of A and of the result to one. B must be a matrix.
void join_rows(MatMulProblem& problem);

/// Products with equal keys take equally long, if their layouts and posts are equal, too.
std::string key_of(const MatMulProblem& problem);

/// Returns `dims` with ones in front, `rank` together.
Dims ones_in_front(Dims dims, size_t rank);

/// Returns the description of the bias with so many axes; an empty one if there is none.
Desc bias_desc(const MatMulProblem& problem, size_t rank);

/// One way to compute a product.
struct MatMulChoice {
  dnnl::primitive_desc desc;
  PostOps posts;
  bool inner_product = false;
};

/// Returns the primitive for a product with operands in these layouts; nothing if oneDNN has no fast code for it. `sum`
/// is that of make_posts.
std::optional<MatMulChoice> as_matmul(const Builder& builder, const MatMulProblem& problem, const Desc& a,
                                      const Desc& b, const Desc& dst, bool sum);

/// Emit a product whose B is a constant matrix, and one of two computed operands. They return false if oneDNN has no
/// fast code for it.
Result<bool> lower_weighted_product(Builder& builder, const Group& group, const MatMulProblem& problem);
Result<bool> lower_computed_product(Builder& builder, const Group& group, const MatMulProblem& problem);

}  // namespace isomer::onednn
