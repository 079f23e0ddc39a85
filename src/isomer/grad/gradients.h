#pragma once
// Reverse-mode differentiation of graphs. Each operator states its own gradient (OpDef::gradient).
//
//     GraphBuilder builder;
//     const ValueId x = builder.input({DType::Float, {3}});
//     const Attrs all{{"axes", Ints{0}}, {"keepdims", int64_t{0}}};
//     ISOMER_TRY(const ValueId loss, builder.add(op("ReduceSumSquare"), all, {x}));
//     ISOMER_TRY(const auto found, add_gradients(builder, loss, {&x, 1}));  // found[0] computes 2 x

#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/builder.h"

namespace isomer {

/// Adds the gradients of `loss` for each of the `wanted` values to the graph that is being built. Returns them in
/// order; kNoValue if the loss does not depend on the value. Only what they need is added. Comparisons, roundings and
/// shapes count as constants.
///
/// Fails if the loss is not one real number, if a wanted value does not hold real numbers, and, with the name of the
/// node, if the loss depends on a wanted value through an operator without gradient or through integers.
Result<std::vector<ValueId>> add_gradients(GraphBuilder& builder, ValueId loss, std::span<const ValueId> wanted);

/// The same for a finished graph: a copy of it, in which the gradients of the value `loss` are further outputs.
struct GradientGraph {
  Graph graph;
  /// For each wanted value, the index of its gradient among the outputs; nothing if the loss does not depend on it.
  std::vector<std::optional<size_t>> outputs;
};
Result<GradientGraph> with_gradients(const Graph& graph, ValueId loss, std::span<const ValueId> wanted);

}  // namespace isomer
