#include "isomer/ops/backward.h"

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Thrown by Backward::refuse and caught by Backward::run.
struct NoGradient {
  std::string reason;
};

}  // namespace

const TensorType& GraphValue::type() const { return node_->type(id_); }

Backward::Backward(GraphBuilder& builder, NodeId node, std::span<const ValueId> gradients, std::vector<bool> needed)
    : builder_(builder),
      op_(builder.at(node).op),
      attrs_(builder.at(node).attrs),
      operands_(builder.peek().operands(builder.at(node)).begin(), builder.peek().operands(builder.at(node)).end()),
      first_result_(builder.at(node).first_result),
      num_results_(builder.at(node).num_results),
      gradients_(gradients.begin(), gradients.end()),
      needed_(std::move(needed)),
      given_(operands_.size(), kNoValue) {}

Result<std::vector<ValueId>> Backward::run() {
  if (op_->gradient == nullptr) return fail("the operator has no gradient");
  try {
    op_->gradient(*this);
  } catch (const NoGradient& none) {
    return fail("{}", none.reason);
  }
  return given_;
}

void Backward::give(size_t operand, GraphValue gradient) {
  if (!needs(operand)) return;
  const TensorType& want = type(operands_[operand]);
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

GraphValue Backward::call(std::string_view op, const Attrs& attrs, std::span<const GraphValue> operands) {
  std::vector<ValueId> ids;
  for (const GraphValue& term : operands) ids.push_back(term.id());
  const auto value = builder_.add(isomer::op(op), attrs, ids);
  if (!value) refuse(value.error().message);
  return {*this, *value};
}

std::vector<GraphValue> Backward::call_all(std::string_view op, const Attrs& attrs,
                                           std::initializer_list<GraphValue> operands, size_t num_results) {
  std::vector<ValueId> ids;
  for (const GraphValue& term : operands) ids.push_back(term.id());
  const auto node = builder_.node(isomer::op(op), attrs, ids, num_results);
  if (!node) refuse(node.error().message);
  std::vector<GraphValue> results;
  for (uint32_t i = 0; i < num_results; ++i) results.emplace_back(*this, builder_.at(*node).result(i));
  return results;
}

void Backward::refuse(std::string reason) const { throw NoGradient{std::move(reason)}; }

ValueId gradient_of_loss(GraphBuilder& builder, const TensorType& loss) {
  return builder.constant(number_of(loss.dtype, 1, *concrete(*loss.shape)));
}

Result<ValueId> gradient_sum(GraphBuilder& builder, ValueId a, ValueId b) { return builder.add(op("Add"), {}, {a, b}); }

void zero_gradient(Backward& /*node*/) {}

}  // namespace isomer
