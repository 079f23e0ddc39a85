#include "isomer/engine/onednn/views.h"

#include <algorithm>

#include "isomer/ops/window.h"

namespace isomer {

namespace {

bool starts_at_block(const Node& slice, onednn::Form block) {
  const Ints& axes = slice.attrs.ints("axes");
  return axes.size() == 1 && axes[0] == 1 && slice.attrs.ints("steps")[0] == 1 && slice.attrs.ints("starts")[0] >= 0 &&
         slice.attrs.ints("starts")[0] % block == 0;
}

}  // namespace

bool is_removed(const Node& node) {
  if (node.op->has(Trait::Concatenation)) return node.num_operands == 1;
  return node.op->has(Trait::Identity) && node.num_results == 1;
}

ValueId remaining_value(const Graph& graph, ValueId value) {
  while (is_removed(graph.producer_node(value))) value = graph.operands(graph.producer_node(value))[0];
  return value;
}

bool picks_elements(const Node& node) {
  if (!node.op->has(Trait::Pool) || node.num_results != 1) return false;
  const auto all = [](const Ints& numbers, int64_t wanted) {
    return std::ranges::all_of(numbers, [=](int64_t number) { return number == wanted; });
  };
  const Ints& kernel = node.attrs.ints("kernel_shape");
  if (!all(kernel, 1)) return false;
  const auto window = read_window(node.attrs, kernel);
  return window && !window->same() && !window->ceil && all(window->begin, 0) && all(window->end, 0);
}

bool is_cut(const Node& node) { return node.op->has(Trait::Cut) || picks_elements(node); }

bool is_onednn_view(const Node& node) {
  return node.op->has(Trait::View) || node.op->has(Trait::Permutation) || is_cut(node);
}

bool cuts_blocks(const Graph& graph, const Node& node, onednn::Form form) {
  const ValueId x = graph.operands(node)[0];
  if (form <= onednn::kPlainForm || !is_cut(node)) return false;
  const Shape& whole = *graph.type(x).shape;
  if (!whole[0].is(1)) return false;
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const Shape& part = *graph.type(node.result(i)).shape;
    for (size_t axis = 0; axis < whole.size(); ++axis)
      if (axis == 1 ? !part[1].is_const() || part[1].value() % form != 0 : part[axis] != whole[axis]) return false;
  }
  return !node.attrs.has("starts") || starts_at_block(node, form);
}

}  // namespace isomer
