#include "isomer/ops/product_gradient.h"

#include <algorithm>

#include "isomer/ops/gradient_parts.h"

namespace isomer {
namespace {

/// A factor as matrices: vectors are a row on the left and a column on the right.
GraphValue as_matrices(const GraphValue& x, bool left) { return x.rank() == 1 ? unsqueezed(x, {left ? 0 : 1}) : x; }

/// The gradient of a product with the axes that vectors lack.
GraphValue result_matrices(Backward& node) {
  GraphValue g = node.gradient();
  if (node.operand(1).rank() == 1) g = unsqueezed(g, {static_cast<int64_t>(g.rank())});
  if (node.operand(0).rank() == 1) g = unsqueezed(g, {static_cast<int64_t>(g.rank()) - 1});
  return g;
}

/// Sums the gradient of a factor, and removes the axis that a vector lacked.
void give_factor(Backward& node, size_t i, const GraphValue& gradient) {
  if (node.operand(i).rank() > 1) return node.give(i, gradient);
  const auto rank = static_cast<int64_t>(gradient.rank());
  node.give(i, summed(gradient, {i == 0 ? rank - 2 : rank - 1}, false));
}

}  // namespace

GraphValue matmul(const GraphValue& a, const GraphValue& b) { return apply("MatMul", {a, b}); }

GraphValue matrices_transposed(const GraphValue& x) {
  Ints perm = axis_range(0, x.rank());
  std::swap(perm[x.rank() - 1], perm[x.rank() - 2]);
  return transposed(x, std::move(perm));
}

GraphValue rows_of(const GraphValue& x) {
  if (x.rank() == 2) return x;
  const Dim& columns = x.shape().back();
  if (!columns.is_const()) x.node().refuse(fmt::format("the extent {} is not known", columns.str()));
  return x.node().call("Reshape", {{"shape", Ints{-1, columns.value()}}}, {x});
}

void matmul_gradient(Backward& node) {
  const GraphValue a = as_matrices(node.operand(0), true);
  const GraphValue b = as_matrices(node.operand(1), false);
  const GraphValue g = result_matrices(node);
  if (node.needs(0)) give_factor(node, 0, matmul(g, matrices_transposed(b)));
  if (!node.needs(1)) return;
  // One product for a matrix that all others are multiplied with, instead of the sum of a product for each.
  const bool shared = b.rank() == 2 && a.rank() > 2;
  give_factor(node, 1,
              shared ? matmul(matrices_transposed(rows_of(a)), rows_of(g)) : matmul(matrices_transposed(a), g));
}

/// y = alpha a b + beta c, where a and b may be given transposed.
void gemm_gradient(Backward& node) {
  const Attrs& attrs = node.attrs();
  const GraphValue g = node.gradient();
  const GraphValue a = node.operand(0);
  const GraphValue b = node.operand(1);
  const bool flip_a = attrs.integer("transA") != 0;
  const bool flip_b = attrs.integer("transB") != 0;
  const auto product = [&](const GraphValue& left, bool flip_left, const GraphValue& right, bool flip_right) {
    return node.call("Gemm",
                     {{"alpha", attrs.real("alpha")}, {"transA", int64_t{flip_left}}, {"transB", int64_t{flip_right}}},
                     {left, right});
  };
  if (node.needs(0)) node.give(0, flip_a ? product(b, flip_b, g, true) : product(g, false, b, !flip_b));
  if (node.needs(1)) node.give(1, flip_b ? product(g, true, a, flip_a) : product(a, !flip_a, g, false));
  if (node.needs(2)) node.give(2, attrs.real("beta") * g);
}

}  // namespace isomer
