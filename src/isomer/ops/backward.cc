#include "isomer/ops/backward.h"

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"

namespace isomer {
Backward::Backward(GraphBuilder& builder, NodeId node, std::span<const ValueId> gradients, std::vector<bool> needed)
    : NodeWriter(builder, *builder.at(node).op, builder.at(node).attrs, builder.peek().operands(builder.at(node))),
      first_result_(builder.at(node).first_result),
      num_results_(builder.at(node).num_results),
      gradients_(gradients.begin(), gradients.end()),
      needed_(std::move(needed)),
      given_(num_operands(), kNoValue) {}

Result<std::vector<ValueId>> Backward::run() {
  if (op().gradient == nullptr) return fail("the operator has no gradient");
  ISOMER_CHECK(attempt([&] { op().gradient(*this); }));
  return given_;
}

void Backward::give(size_t operand, GraphValue gradient) {
  if (!needs(operand)) return;
  const TensorType& want = type(NodeWriter::operand(operand).id());
  gradient = sum_to(gradient, *want.shape);
  if (gradient.type() != want)
    refuse(fmt::format("the gradient {} of operand {} does not fit {}", gradient.type().str(), operand, want.str()));
  given_[operand] = gradient.id();
}

GraphValue Backward::sum_to(GraphValue gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  if (gradient.rank() < shape.size()) return expanded(gradient, shape);
  const size_t extra = gradient.rank() - shape.size();
  Ints axes;
  for (size_t i = 0; i < gradient.rank(); ++i) {
    if (i < extra || (shape[i - extra].is(1) && !gradient.shape()[i].is(1)))
      axes.push_back(static_cast<int64_t>(i));
    else if (!(shape[i - extra] == gradient.shape()[i]))
      refuse(fmt::format("whether an operand {} broadcasts to {} is not known", shape_str(shape),
                         shape_str(gradient.shape())));
  }
  const GraphValue sum = axes.empty() ? gradient : summed(gradient, axes, true);
  return extra == 0 ? sum : reshaped(sum, shape);
}

ValueId gradient_of_loss(GraphBuilder& builder, const TensorType& loss) {
  return builder.constant(number_of(loss.dtype, 1, *concrete(*loss.shape)));
}

Result<ValueId> gradient_sum(GraphBuilder& builder, ValueId a, ValueId b) {
  return builder.add(isomer::op("Add"), {}, {a, b});
}

void zero_gradient(Backward& /*node*/) {}

}  // namespace isomer
