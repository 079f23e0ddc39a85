#include "isomer/engine/onednn/loop_nodes.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "isomer/engine/onednn/forms.h"
#include "isomer/ops/op_map.h"

namespace isomer::onednn {
namespace {

using Steps = std::vector<LoopStep>;

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

/// Operators that are one step each.
struct OneStep {
  LoopOp op;
  DType from;
  DType to;
  bool swapped = false;
};
const OpMap<OneStep>& one_steps() {
  constexpr DType kNumber = DType::Float, kCondition = DType::Bool;
  static const OpMap<OneStep> kSteps = {
      {"Neg", {LoopOp::Neg, kNumber, kNumber}},
      {"Abs", {LoopOp::Abs, kNumber, kNumber}},
      {"Sqrt", {LoopOp::Sqrt, kNumber, kNumber}},
      {"Exp", {LoopOp::Exp, kNumber, kNumber}},
      {"Reciprocal", {LoopOp::Reciprocal, kNumber, kNumber}},
      {"Sigmoid", {LoopOp::Sigmoid, kNumber, kNumber}},
      {"Tanh", {LoopOp::Tanh, kNumber, kNumber}},
      {"Erf", {LoopOp::Erf, kNumber, kNumber}},
      {"Expand", {LoopOp::Copy, kNumber, kNumber}},
      {"Add", {LoopOp::Add, kNumber, kNumber}},
      {"Sub", {LoopOp::Sub, kNumber, kNumber}},
      {"Mul", {LoopOp::Mul, kNumber, kNumber}},
      {"Div", {LoopOp::Div, kNumber, kNumber}},
      {"Equal", {LoopOp::Equal, kNumber, kCondition}},
      {"Greater", {LoopOp::Greater, kNumber, kCondition}},
      {"GreaterOrEqual", {LoopOp::GreaterOrEqual, kNumber, kCondition}},
      {"Less", {LoopOp::Greater, kNumber, kCondition, true}},
      {"LessOrEqual", {LoopOp::GreaterOrEqual, kNumber, kCondition, true}},
      {"Not", {LoopOp::Not, kCondition, kCondition}},
      {"And", {LoopOp::And, kCondition, kCondition}},
      {"Or", {LoopOp::Or, kCondition, kCondition}},
      {"Xor", {LoopOp::Xor, kCondition, kCondition}},
  };
  return kSteps;
}

LoopStep step(LoopOp op, std::initializer_list<uint8_t> from, float alpha = 0, float beta = 0) {
  LoopStep out{.op = op, .to = kLoopResult, .alpha = alpha, .beta = beta};
  std::ranges::copy(from, out.from);
  return out;
}

/// The steps of an operator of any number of operands.
std::optional<Steps> accumulated(LoopOp op, size_t operands) {
  if (operands > kMaxLoopOperands) return std::nullopt;
  if (operands == 1) return Steps{step(LoopOp::Copy, {0})};
  Steps steps = {step(op, {0, 1})};
  for (size_t i = 2; i < operands; ++i) steps.push_back(step(op, {kLoopResult, static_cast<uint8_t>(i)}));
  return steps;
}

float clip_bound(const Node& clip, std::string_view name, float otherwise) {
  return clip.attrs.has(name) ? clip.attrs.tensor(name).data<float>()[0] : otherwise;
}

std::optional<Steps> power_steps(const Graph& graph, const Node& node) {
  const ValueId exponent = graph.operands(node)[1];
  const Tensor* data = graph.constant(exponent);
  if (data == nullptr || data->dtype() != DType::Float || data->element_count() != 1 ||
      graph.type(graph.operands(node)[0]).shape != graph.type(node.result()).shape)
    return std::nullopt;
  const float power = data->data<float>()[0];
  if (power == 2) return Steps{step(LoopOp::Square, {0})};
  if (power == 3) return Steps{step(LoopOp::Cube, {0})};
  if (power == -1) return Steps{step(LoopOp::Reciprocal, {0})};
  return std::nullopt;
}

size_t arguments_of(LoopOp op) {
  switch (op) {
    case LoopOp::Add:
    case LoopOp::Sub:
    case LoopOp::Mul:
    case LoopOp::Div:
    case LoopOp::Max:
    case LoopOp::Min:
    case LoopOp::Equal:
    case LoopOp::Greater:
    case LoopOp::GreaterOrEqual:
    case LoopOp::And:
    case LoopOp::Or:
    case LoopOp::Xor:
      return 2;
    case LoopOp::Select:
      return 3;
    default:
      return 1;
  }
}

bool reads(const LoopStep& step, size_t operand) {
  const auto* const end = step.from + arguments_of(step.op);
  return std::find(step.from, end, operand) != end;
}

/// Returns the steps of operators on numbers with parameters, or with several steps.
std::optional<Steps> composed_steps(const Graph& graph, const Node& node) {
  const std::string_view name = node.op->name;
  const size_t operands = graph.operands(node).size();
  if (name == "Sum") return accumulated(LoopOp::Add, operands);
  if (name == "Max") return accumulated(LoopOp::Max, operands);
  if (name == "Min") return accumulated(LoopOp::Min, operands);
  if (name == "Relu") return Steps{step(LoopOp::Clip, {0}, 0, kUnbounded)};
  if (name == "LeakyRelu") return Steps{step(LoopOp::LeakyRelu, {0}, node.attrs.real("alpha"))};
  if (name == "Clip")
    return Steps{step(LoopOp::Clip, {0}, clip_bound(node, "min", -kUnbounded), clip_bound(node, "max", kUnbounded))};
  const auto hard_sigmoid = [](float alpha, float beta) {
    return Steps{step(LoopOp::Linear, {0}, alpha, beta), step(LoopOp::Clip, {kLoopResult}, 0, 1)};
  };
  if (name == "HardSigmoid") return hard_sigmoid(node.attrs.real("alpha"), node.attrs.real("beta"));
  if (name == "HardSwish") {
    Steps steps = hard_sigmoid(1.0F / 6, 0.5F);
    steps.push_back(step(LoopOp::Mul, {0, kLoopResult}));
    return steps;
  }
  if (name == "Pow") return power_steps(graph, node);
  return std::nullopt;
}

/// Returns whether a value has elements of a type, and a rank.
bool has_type(const Graph& graph, ValueId value, DType dtype) {
  return value != kNoValue && graph.type(value).dtype == dtype && graph.type(value).shape.has_value();
}

bool is_plain_op(const Node& node) { return !node.is_opaque() && node.op->domain.empty() && node.num_results == 1; }

/// Returns whether the summed axes are adjacent, except for axes of extent 1.
bool sums_adjacent_axes(const Graph& graph, const Node& node, const LoopReduction& reduction) {
  const Shape& extents = *graph.type(graph.operands(node)[0]).shape;
  bool summed = false, behind = false;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis].is(1)) continue;
    if (reduction.axes[axis] && behind) return false;
    behind = behind || (summed && !reduction.axes[axis]);
    summed = summed || reduction.axes[axis];
  }
  return true;
}

/// Returns whether oneDNN has no kernel for sums, products and so on of these operands: it broadcasts one of them, and
/// only the second one of a difference.
bool broadcasts_both(const Graph& graph, const Node& node) {
  const auto operands = graph.operands(node);
  if (operands.size() != 2) return operands.size() > 2;
  const auto whole = [&](ValueId value) { return graph.type(value).shape == graph.type(node.result()).shape; };
  const bool ordered = node.op->name == "Sub" || node.op->name == "Div";
  return !whole(operands[0]) && (ordered || !whole(operands[1]));
}

}  // namespace

std::optional<Steps> node_steps(const Graph& graph, const Node& node) {
  if (!is_plain_op(node) || !graph.type(node.result()).shape) return std::nullopt;
  if (!node.op->has(Trait::Elementwise) && node.op->name != "Expand") return std::nullopt;
  const auto operands = graph.operands(node);
  const auto all_of = [&](DType dtype) {
    return std::ranges::all_of(operands, [&](ValueId v) { return has_type(graph, v, dtype); });
  };
  const DType made = graph.type(node.result()).dtype;
  if (const OneStep* const one = one_steps().find(*node.op)) {
    if (made != one->to || !all_of(one->from)) return std::nullopt;
    if (operands.size() == 1) return Steps{step(one->op, {0})};
    return Steps{one->swapped ? step(one->op, {1, 0}) : step(one->op, {0, 1})};
  }
  if (node.op->name == "Where") {
    const bool numbers = has_type(graph, operands[1], DType::Float) && has_type(graph, operands[2], DType::Float);
    if (!numbers || !has_type(graph, operands[0], DType::Bool)) return std::nullopt;
    return Steps{step(LoopOp::Select, {0, 1, 2})};
  }
  if (node.op->name == "Cast") {
    if (made == DType::Float && all_of(DType::Bool)) return Steps{step(LoopOp::ToNumber, {0})};
    if (made == DType::Bool && all_of(DType::Float)) return Steps{step(LoopOp::IsNotZero, {0})};
    return std::nullopt;
  }
  return made == DType::Float && all_of(DType::Float) ? composed_steps(graph, node) : std::nullopt;
}

bool is_fast(LoopOp op) {
  switch (op) {
    case LoopOp::Sqrt:
    case LoopOp::Exp:
    case LoopOp::Reciprocal:
    case LoopOp::Sigmoid:
    case LoopOp::Tanh:
    case LoopOp::Erf:
    case LoopOp::Div:
      return false;
    default:
      return true;
  }
}

std::optional<LoopReduction> node_reduction(const Graph& graph, const Node& node) {
  const std::string_view name = node.op->name;
  if (!name.starts_with("Reduce") || !is_plain_op(node) || !node.attrs.has("axes")) return std::nullopt;
  LoopReduction out;
  if (name == "ReduceMean")
    out.mean = true;
  else if (name == "ReduceL1")
    out.first = LoopOp::Abs;
  else if (name == "ReduceSumSquare" || name == "ReduceL2")
    out.first = LoopOp::Square;
  else if (name != "ReduceSum")
    return std::nullopt;
  out.root = name == "ReduceL2";
  const ValueId x = graph.operands(node)[0];
  const Ints& axes = node.attrs.ints("axes");
  if (!has_type(graph, x, DType::Float) || axes.empty()) return std::nullopt;
  out.axes.assign(graph.type(x).rank(), false);
  for (const int64_t axis : axes)
    out.axes[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(out.axes.size()) : axis)] = true;
  return out;
}

bool keeps_only_channels(const LoopReduction& reduction) {
  if (reduction.axes.size() < 3) return false;
  for (size_t axis = 0; axis < reduction.axes.size(); ++axis)
    if (reduction.axes[axis] == (axis == 1)) return false;
  return true;
}

ValueId loop_domain(const Graph& graph, const Group& group) {
  const Node& last = graph.node(group.last());
  return node_reduction(graph, last) ? graph.operands(last)[0] : last.result();
}

std::vector<ValueId> loop_operands(const Graph& graph, const Group& group) {
  const std::vector<NodeId> nodes = nodes_of(group);
  std::vector<ValueId> out;
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    const auto operands = graph.operands(node);
    const auto add = [&](ValueId operand) {
      const bool inner = std::ranges::find(nodes, graph.producer(operand)) != nodes.end();
      if (!inner && std::ranges::find(out, operand) == out.end()) out.push_back(operand);
    };
    const auto steps = node_steps(graph, node);
    if (!steps) {
      add(operands[0]);
      continue;
    }
    for (size_t i = 0; i < operands.size(); ++i)
      if (std::ranges::any_of(*steps, [&](const LoopStep& step) { return reads(step, i); })) add(operands[i]);
  }
  return out;
}

bool loops_over_blocks(const Graph& graph, const Group& group, std::span<const ValueId> operands) {
  if (!fits_blocks(graph, loop_domain(graph, group))) return false;
  if (const auto reduction = node_reduction(graph, graph.node(group.last()));
      reduction && !reduction->axes[1] && !keeps_only_channels(*reduction)) {
    // The result has images and channels; if it had pixels too, it would be in blocks.
    const auto& axes = reduction->axes;
    if (!std::all_of(axes.begin() + 2, axes.end(), [](bool summed) { return summed; })) return false;
  }
  return std::ranges::none_of(operands, [&](ValueId value) { return graph.type(value).dtype == DType::Bool; });
}

namespace {

/// Returns whether a node subtracts or divides by what it broadcasts to images. OneDNN does so in row-major order only.
bool differs_by_channel(const Graph& graph, const Node& node) {
  if (node.op->name != "Sub" && node.op->name != "Div") return false;
  const auto operands = graph.operands(node);
  return fits_blocks(graph, node.result()) && graph.type(operands[0]) == graph.type(node.result()) &&
         graph.type(operands[1]).shape != graph.type(node.result()).shape;
}

}  // namespace

bool is_loop(const Graph& graph, const Group& group) {
  if (!group.inner.empty()) return true;
  const Node& root = graph.node(group.root);
  if (const auto reduction = node_reduction(graph, root))
    return keeps_only_channels(*reduction) || !sums_adjacent_axes(graph, root, *reduction);
  const auto computable = [&](NodeId id) { return node_steps(graph, graph.node(id)).has_value(); };
  if (!std::ranges::all_of(nodes_of(group), computable)) return false;
  const auto is_condition = [&](ValueId value) { return graph.type(value).dtype == DType::Bool; };
  if (is_condition(root.result()) || std::ranges::any_of(graph.operands(root), is_condition)) return true;
  if (root.op->name == "Expand" || unary_of(graph, root)) return false;
  return broadcasts_both(graph, root) || differs_by_channel(graph, root);
}

}  // namespace isomer::onednn
