#include "isomer/engine/onednn/views.h"

#include <algorithm>

#include "isomer/engine/onednn/fusion.h"

namespace isomer {

namespace {

bool starts_at_block(const Node& slice, onednn::Form block) {
  const Ints& axes = slice.attrs.ints("axes");
  return axes.size() == 1 && axes[0] == 1 && slice.attrs.ints("steps")[0] == 1 && slice.attrs.ints("starts")[0] >= 0 &&
         slice.attrs.ints("starts")[0] % block == 0;
}

/// Returns whether the product of two computed operands writes a value in the order of the transposition that is its
/// only reader.
bool written_in_order(const Graph& graph, ValueId value) {
  const Node& maker = graph.producer_node(value);
  if (maker.op->role(1) != OperandRole::RightFactor || graph.consumers(value).size() != 1 || graph.is_output(value))
    return false;
  return std::ranges::none_of(graph.operands(maker), [&](ValueId operand) { return graph.is_weight(operand); });
}

}  // namespace

bool is_removed(const Node& node) { return node.op->has(Trait::Identity) && node.num_results == 1; }

ValueId remaining_value(const Graph& graph, ValueId value) {
  while (is_removed(graph.producer_node(value))) value = graph.operands(graph.producer_node(value))[0];
  return value;
}

bool is_onednn_view(const Node& node) {
  return node.op->has(Trait::View) || node.op->has(Trait::Permutation) || node.op->has(Trait::Cut);
}

bool cuts_blocks(const Graph& graph, const Node& node, onednn::Form form) {
  const ValueId x = graph.operands(node)[0];
  if (form <= onednn::kPlainForm || !node.op->has(Trait::Cut)) return false;
  const Shape& whole = *graph.type(x).shape;
  if (!whole[0].is(1)) return false;
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const Shape& part = *graph.type(node.result(i)).shape;
    for (size_t axis = 0; axis < whole.size(); ++axis)
      if (axis == 1 ? !part[1].is_const() || part[1].value() % form != 0 : part[axis] != whole[axis]) return false;
  }
  return !node.attrs.has("starts") || starts_at_block(node, form);
}

bool brings_channels_last(const Node& node) {
  if (!node.op->has(Trait::Permutation)) return false;
  const Ints& perm = node.attrs.ints("perm");
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != (i == 0 ? 0 : i + 1 == perm.size() ? 1 : static_cast<int64_t>(i) + 1)) return false;
  return true;
}

bool makes_strides(const Graph& graph, const Node& node) {
  if (node.op->has(Trait::Permutation)) return !written_in_order(graph, graph.operands(node)[0]);
  if (!node.op->has(Trait::Cut)) return false;
  const ValueId x = graph.operands(node)[0];
  if (!onednn::may_be_plannable(graph, x)) return false;
  const Shape& whole = *graph.type(x).shape;
  const Shape& part = *graph.type(node.result()).shape;
  bool ones = true;  // all extents before this axis
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    if (part[axis] != whole[axis] && !ones) return true;
    ones = ones && whole[axis].is(1);
  }
  return false;
}

}  // namespace isomer
