#include "isomer/ops/layer_direction.h"

#include <algorithm>

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/product_gradient.h"

namespace isomer {
namespace {

using enum RecurrentOperands::Operand;

/// Whether all sequences have all steps.
bool are_full(const GraphValue& lengths, int64_t steps) {
  const Tensor* const known = lengths.node().constant_data(lengths);
  if (known == nullptr || known->dtype() != DType::Int32) return false;
  return std::ranges::all_of(known->data<int32_t>(), [&](int64_t length) { return length >= steps; });
}

}  // namespace

GraphValue concatenated(const GraphValues& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : parts[0].node().call("Concat", {{"axis", axis}}, parts);
}
GraphValue part_of(const GraphValue& x, size_t axis, int64_t first, int64_t end) {
  return first == 0 && x.shape()[axis].is(end) ? x : sliced(x, axis, first, end);
}
GraphValue at_time(const GraphValue& x, int64_t time) { return part_of(x, 0, time, time + 1); }
GraphValue element_at(const GraphValue& x, size_t axis, int64_t i) {
  return x.node().call("Squeeze", {{"axes", Ints{static_cast<int64_t>(axis)}}}, {part_of(x, axis, i, i + 1)});
}

GraphValue activated(const Activation& f, const GraphValue& x) {
  switch (f.kind) {
    case Activation::Kind::Tanh:
      return apply("Tanh", {x});
    case Activation::Kind::Sigmoid:
      return sigmoid(x);
    case Activation::Kind::Relu:
      return apply("Relu", {x});
    case Activation::Kind::Affine:
      return double{f.alpha} * x + double{f.beta};
    default:
      x.node().refuse(kNoSuchActivation);
  }
}

GraphValue LayerDirection::in_time(GraphValues found, bool forwards) const {
  if (forwards == backwards) std::ranges::reverse(found);
  return concatenated(found, 0);
}

GraphValue LayerDirection::gate(const GraphValue& all, size_t axis, size_t g) const {
  const auto first = static_cast<int64_t>(g) * hidden;
  return part_of(all, axis, first, first + hidden);
}

GraphValue LayerDirection::from_inputs() const {
  const GraphValue sums = matmul(x, transposed(w, {1, 0}));
  return w_bias ? sums + *w_bias : sums;
}

GraphValue LayerDirection::from_states(const GraphValue& states, int64_t first, int64_t end) const {
  const GraphValue sums = matmul(states, transposed(part_of(r, 0, first, end), {1, 0}));
  return r_bias ? sums + part_of(*r_bias, 0, first, end) : sums;
}

RecurrentParts::RecurrentParts(NodeWriter& node, Cell cell)
    : node_(node), cell_(cell), batch_first_(node.attrs().integer("layout") == 1) {
  const GraphValue x = turned(node.operand(kX));
  const Dim& steps = x.shape()[0];
  if (!steps.is_const()) node.refuse(fmt::format("the number of steps, {}, is not known", steps.str()));
  if (steps.is(0)) node.refuse("it has no steps");
  if (node.has(kLengths) && !are_full(node.operand(kLengths), steps.value())) node.refuse("its sequences have lengths");
  if (node.attrs().has("clip")) node.refuse("it clips");
  const int64_t directions = known_extent(node.operand(kR), 0);
  auto functions = read_activations(node.attrs(), cell, static_cast<size_t>(directions));
  if (!functions) node.refuse(functions.error().message);
  functions_ = std::move(*functions);
  for (int64_t i = 0; i < directions; ++i) directions_.push_back(direction(i, x));
}

GraphValue RecurrentParts::turned(const GraphValue& x) const { return batch_first_ ? transposed(x, {1, 0, 2}) : x; }

GraphValue RecurrentParts::all_steps(const GraphValue& y, int64_t direction) const {
  return element_at(batch_first_ ? transposed(y, {1, 2, 0, 3}) : y, 1, direction);
}

GraphValue RecurrentParts::joined(const GraphValues& directions) const {
  GraphValues parts;
  for (const GraphValue& y : directions) parts.push_back(unsqueezed(y, {1}));
  const GraphValue y = concatenated(parts, 1);
  return batch_first_ ? transposed(y, {2, 0, 1, 3}) : y;
}

std::optional<GraphValue> RecurrentParts::part(size_t operand, int64_t i) const {
  if (!node_.has(operand)) return std::nullopt;
  const bool is_state = operand == kInitialH || operand == kInitialC;
  return is_state ? at_time(turned(node_.operand(operand)), i) : element_at(node_.operand(operand), 0, i);
}

LayerDirection RecurrentParts::direction(int64_t i, const GraphValue& x) {
  const int64_t hidden = known_extent(node_.operand(kR), 2);
  // A constant needs known extents; a symbolic batch comes from the input.
  const auto zero = [&] {
    if (x.shape()[1].is_const()) return node_.constant(Tensor::zeros(x.dtype(), {1, x.shape()[1].value(), hidden}));
    const GraphValue none = 0 * part_of(at_time(x, 0), 2, 0, 1);
    return none + node_.constant(Tensor::zeros(x.dtype(), {1, 1, hidden}));
  }();
  LayerDirection out{.index = i,
                     .steps = x.shape()[0].value(),
                     .hidden = hidden,
                     .backwards = i == 1 || node_.attrs().text("direction") == "reverse",
                     .functions = functions_.data() + static_cast<size_t>(i) * activations_of(cell_),
                     .x = x,
                     .w = *part(kW, i),
                     .r = *part(kR, i),
                     .peephole = part(kPeephole, i),
                     .zero = zero,
                     .initial_h = part(kInitialH, i).value_or(zero),
                     .initial_cell = part(kInitialC, i).value_or(zero)};
  if (const auto bias = part(kBias, i)) {
    const auto rows = static_cast<int64_t>(gates_of(cell_)) * hidden;
    out.w_bias = sliced(*bias, 0, 0, rows);
    out.r_bias = sliced(*bias, 0, rows, 2 * rows);
  }
  return out;
}

}  // namespace isomer
