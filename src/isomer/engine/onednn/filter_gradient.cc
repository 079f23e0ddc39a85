#include "isomer/engine/onednn/filter_gradient.h"

#include <algorithm>

namespace isomer::onednn {
namespace {

/// Returns the operand of a transposition that exchanges the first two axes; kNoValue for another node.
ValueId exchanged(const Graph& graph, const Node& node) {
  if (node.is_opaque() || node.is_input() || node.is_constant() || !node.op->has(Trait::Permutation)) return kNoValue;
  const Ints& perm = node.attrs.ints("perm");
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i < 2 ? 1 - i : i)) return kNoValue;
  return perm.size() < 3 ? kNoValue : graph.operands(node)[0];
}

}  // namespace

std::optional<FilterGradient> filter_gradient(const Graph& graph, const Node& node) {
  if (node.is_opaque() || !node.op->domain.empty() || node.op->name != "Conv" || node.attrs.integer("group") != 1)
    return std::nullopt;
  const auto operands = graph.operands(node);
  if (operands.size() > 2 && operands[2] != kNoValue) return std::nullopt;
  const FilterGradient out{exchanged(graph, graph.producer_node(operands[0])),
                           exchanged(graph, graph.producer_node(operands[1]))};
  const auto computed = [&](ValueId value) { return value != kNoValue && !graph.is_constant_derived(value); };
  return computed(out.image) && computed(out.gradient) ? std::optional(out) : std::nullopt;
}

bool feeds_filter_gradients(const Graph& graph, const Node& node) {
  if (exchanged(graph, node) == kNoValue || graph.is_output(node.result())) return false;
  const auto readers = graph.consumers(node.result());
  return !readers.empty() && std::ranges::all_of(readers, [&](NodeId reader) {
    return filter_gradient(graph, graph.node(reader)).has_value();
  });
}

}  // namespace isomer::onednn
