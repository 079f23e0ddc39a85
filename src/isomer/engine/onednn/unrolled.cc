#include "isomer/engine/onednn/unrolled.h"

#include "isomer/engine/onednn/recurrent_layer.h"
#include "isomer/ops/recurrent_steps.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kMaxSteps = 2048;

}  // namespace

Result<std::vector<ValueId>> unrolled(GraphBuilder& builder, NodeId id) {
  const Node node = builder.at(id);
  const auto cell = recurrent_cell(node);
  const auto operands = builder.peek().operands(node);
  if (!cell || builder.type(operands[0]).dtype != DType::Float) return std::vector<ValueId>();
  ISOMER_TRY(const auto layer, read_recurrent(builder.peek(), node));
  if (layer) return std::vector<ValueId>();
  const Shape& x = *builder.type(operands[0]).shape;
  const Dim& steps = x[node.attrs.integer("layout") == 1 ? 1 : 0];
  if (!steps.is_const() || steps.value() > kMaxSteps) return std::vector<ValueId>();
  std::vector<ValueId> results;
  NodeWriter writer(builder, *node.op, node.attrs, operands);
  const Status written = NodeWriter::attempt([&] {
    for (const GraphValue& result : written_steps(writer, *cell)) results.push_back(result.id());
  });
  if (!written) results.clear();
  return results;
}

}  // namespace isomer::onednn
