#include "isomer/engine/onednn/rearranged.h"

#include <algorithm>

#include "isomer/eval/executor.h"
#include "isomer/ops/registry.h"

namespace isomer::onednn {
namespace {

Result<ValueId> rearranged(GraphBuilder& builder, const char* op, const Attrs& attrs, ValueId value) {
  ISOMER_TRY(const ValueId made, builder.add(*find_op(op), attrs, {value}));
  const Tensor* const data = builder.constant_data(value);
  if (data == nullptr) return made;
  const Graph& graph = builder.peek();
  ISOMER_TRY(auto results, run_node(graph, graph.producer_node(made), std::vector{*data}));
  return builder.constant(std::move(results[0]));
}

}  // namespace

Ints extents_of(const GraphBuilder& builder, ValueId value) {
  return concrete(*builder.type(value).shape).value_or(Ints());
}

Result<ValueId> reshaped(GraphBuilder& builder, ValueId value, const Ints& extents) {
  if (extents_of(builder, value) == extents) return value;
  return rearranged(builder, "Reshape", {{"shape", extents}}, value);
}

Result<ValueId> transposed(GraphBuilder& builder, ValueId value, const Ints& perm) {
  if (std::ranges::is_sorted(perm)) return value;
  return rearranged(builder, "Transpose", {{"perm", perm}}, value);
}

}  // namespace isomer::onednn
