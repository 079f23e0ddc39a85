#include "isomer/grad/training_step.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "isomer/base/printable.h"
#include "isomer/grad/copied.h"
#include "isomer/grad/gradients.h"
#include "isomer/ir/derivation.h"
#include "isomer/ir/label.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Adds the arithmetic of updates to a graph with gradients.
class StepBuilder {
 public:
  explicit StepBuilder(GraphBuilder& builder) : builder_(builder) {}

  /// Adds an input of the state; it has no name if the name is empty.
  ValueId state(const TensorType& type, const std::string& name) {
    const ValueId input = builder_.input(type);
    if (!name.empty()) builder_.name(input, name);
    return input;
  }
  /// A number in an element type.
  ValueId number(double value, DType dtype) { return builder_.constant(number_of(dtype, value)); }
  Result<ValueId> apply(const char* name, std::initializer_list<ValueId> operands) {
    return builder_.add(op(name), {}, operands);
  }
  Result<ValueId> scaled(double factor, ValueId x) { return apply("Mul", {number(factor, builder_.type(x).dtype), x}); }
  /// a x + b y
  Result<ValueId> combined(double a, ValueId x, double b, ValueId y) {
    ISOMER_TRY(const ValueId first, scaled(a, x));
    ISOMER_TRY(const ValueId second, scaled(b, y));
    return apply("Add", {first, second});
  }

 private:
  GraphBuilder& builder_;
};

/// A parameter with its gradient.
struct Trained {
  ValueId value;
  ValueId gradient;
  TensorType type;
  std::string name;
};

/// The new parameters and the new state.
struct Updated {
  std::vector<ValueId> parameters;
  std::vector<ValueId> state;
};

std::string prefixed(const char* prefix, const std::string& name) { return name.empty() ? "" : prefix + name; }

Result<Updated> update(StepBuilder& step, const Sgd& sgd, std::span<const Trained> trained) {
  Updated out;
  for (const Trained& parameter : trained) {
    ValueId direction = parameter.gradient;
    if (sgd.momentum != 0) {
      const ValueId buffer = step.state(parameter.type, prefixed("momentum/", parameter.name));
      ISOMER_TRY(const ValueId kept, step.scaled(sgd.momentum, buffer));
      ISOMER_TRY(direction, step.apply("Add", {kept, parameter.gradient}));
      out.state.push_back(direction);
    }
    ISOMER_TRY(const ValueId change, step.scaled(sgd.rate, direction));
    ISOMER_TRY(const ValueId next, step.apply("Sub", {parameter.value, change}));
    out.parameters.push_back(next);
  }
  return out;
}

/// 1 - beta^steps: the share that the mean of `steps` gradients has of its final weight.
Result<ValueId> correction(StepBuilder& step, double beta, ValueId steps) {
  ISOMER_TRY(const ValueId power, step.apply("Pow", {step.number(beta, DType::Float), steps}));
  return step.apply("Sub", {step.number(1, DType::Float), power});
}

/// The new value of one parameter: value - rate (mean / correction1) / (sqrt(square / correction2) + epsilon).
Result<ValueId> adam_value(StepBuilder& step, const Adam& adam, const Trained& parameter, ValueId mean, ValueId square,
                           std::span<const ValueId> corrections) {
  ISOMER_TRY(const ValueId direction, step.apply("Div", {mean, corrections[0]}));
  ISOMER_TRY(const ValueId variance, step.apply("Div", {square, corrections[1]}));
  ISOMER_TRY(const ValueId root, step.apply("Sqrt", {variance}));
  ISOMER_TRY(const ValueId deviation, step.apply("Add", {root, step.number(adam.epsilon, parameter.type.dtype)}));
  ISOMER_TRY(const ValueId scaled, step.scaled(adam.rate, direction));
  ISOMER_TRY(const ValueId change, step.apply("Div", {scaled, deviation}));
  return step.apply("Sub", {parameter.value, change});
}

Result<Updated> update(StepBuilder& step, const Adam& adam, std::span<const Trained> trained) {
  Updated out;
  const ValueId before = step.state({DType::Float, Shape()}, "steps");
  ISOMER_TRY(const ValueId steps, step.apply("Add", {before, step.number(1, DType::Float)}));
  out.state.push_back(steps);
  ISOMER_TRY(const ValueId first, correction(step, adam.beta1, steps));
  ISOMER_TRY(const ValueId second, correction(step, adam.beta2, steps));
  for (const Trained& parameter : trained) {
    if (parameter.type.dtype != DType::Float)
      return fail("Adam trains parameters of f32 only; '{}' is {}", printable(parameter.name), parameter.type.str());
    const ValueId old_mean = step.state(parameter.type, prefixed("mean/", parameter.name));
    const ValueId old_square = step.state(parameter.type, prefixed("square/", parameter.name));
    ISOMER_TRY(const ValueId mean, step.combined(adam.beta1, old_mean, 1 - adam.beta1, parameter.gradient));
    ISOMER_TRY(const ValueId squared, step.apply("Mul", {parameter.gradient, parameter.gradient}));
    ISOMER_TRY(const ValueId square, step.combined(adam.beta2, old_square, 1 - adam.beta2, squared));
    ISOMER_TRY(const ValueId next, adam_value(step, adam, parameter, mean, square, std::vector{first, second}));
    out.state.insert(out.state.end(), {mean, square});
    out.parameters.push_back(next);
  }
  return out;
}

/// Names the new parameters and the new state after the inputs whose values they replace.
void name_results(GraphBuilder& builder, std::span<const Trained> trained, const Updated& updated, size_t first_state) {
  const auto name = [&](ValueId value, const std::string& of) {
    if (!of.empty()) builder.name(value, kNewValue + of);
  };
  for (size_t i = 0; i < trained.size(); ++i) name(updated.parameters[i], trained[i].name);
  std::vector<std::string> states;
  size_t input = 0;
  for (const Node& node : builder.peek().nodes())
    if (node.is_input() && input++ >= first_state) states.push_back(builder.peek().name(node.result()));
  for (size_t i = 0; i < states.size(); ++i) name(updated.state[i], states[i]);
}

/// Returns the graph of these outputs, which need not be finished, with each node from `first` on right behind what it
/// reads, so that a gradient is kept only until its update.
Graph with_early_updates(const Graph& graph, NodeId first, std::span<const ValueId> outputs) {
  const auto nodes = static_cast<NodeId>(graph.nodes().size());
  std::vector<NodeId> order(nodes);
  std::iota(order.begin(), order.end(), 0);
  // The last node before `first` that a node depends on. What an update computes from parameters and state alone is
  // computed where it is read.
  std::vector<NodeId> place = order;
  std::vector<NodeId> read_at(nodes, nodes);
  const auto reads = [&](NodeId id, const auto& visit) {
    for (const ValueId operand : graph.operands(graph.node(id)))
      if (operand != kNoValue) visit(graph.producer(operand));
  };
  for (NodeId id = first; id < nodes; ++id) {
    place[id] = 0;
    reads(id, [&](NodeId read) {
      if (!graph.node(read).is_input() && !graph.node(read).is_constant()) place[id] = std::max(place[id], place[read]);
    });
  }
  for (NodeId id = nodes; id-- > first;) {
    if (place[id] == 0 && read_at[id] < nodes) place[id] = read_at[id];
    reads(id, [&](NodeId read) { read_at[read] = std::min(read_at[read], place[id]); });
  }
  std::ranges::stable_sort(order, {}, [&](NodeId id) { return place[id]; });
  GraphBuilder builder(graph.name_table());
  std::vector<ValueId> copies(graph.num_values(), kNoValue);
  for (const ValueId input : graph.inputs()) {
    const bool parameter = graph.producer_node(input).is_parameter();
    copies[input] = parameter ? builder.parameter(graph.type(input)) : builder.input(graph.type(input));
    builder.set_origin(copies[input], graph.origin(input));
  }
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    if (node.is_input()) continue;
    std::vector<ValueId> operands;
    for (const ValueId operand : graph.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : copies[operand]);
    const auto copy = builder.copy(graph, node, operands);
    assert(copy.has_value());  // its operands have the same types
    for (uint32_t r = 0; r < node.num_results; ++r) {
      copies[node.result(r)] = builder.at(*copy).result(r);
      builder.set_origin(copies[node.result(r)], graph.origin(node.result(r)));
    }
  }
  std::vector<ValueId> results;
  for (const ValueId output : outputs) results.push_back(copies[output]);
  return builder.finish(results);
}

}  // namespace

Result<TrainingStep> make_training_step(const Graph& graph, ValueId loss, std::span<const ValueId> parameters,
                                        const Optimizer& optimizer) {
  GraphBuilder builder(graph.name_table());
  ISOMER_TRY(const std::vector<ValueId> copies, copy_named(builder, graph));
  std::vector<ValueId> wanted;
  for (const ValueId parameter : parameters) wanted.push_back(copies[parameter]);
  ISOMER_TRY(const std::vector<ValueId> gradients, add_gradients(builder, copies[loss], wanted));
  TrainingStep out{{}, {}, graph.inputs().size()};
  std::vector<Trained> trained;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (gradients[i] == kNoValue) continue;
    trained.push_back({wanted[i], gradients[i], graph.type(parameters[i]), graph.name(parameters[i])});
    const auto at = std::ranges::find(graph.inputs(), parameters[i]);
    if (at == graph.inputs().end())
      return fail("{} is a parameter, but not an input", node_label(graph, graph.producer(parameters[i])));
    out.parameters.push_back(static_cast<size_t>(at - graph.inputs().begin()));
  }
  if (trained.empty()) return fail("the loss does not depend on a parameter");
  StepBuilder step(builder);
  const auto first_update = static_cast<NodeId>(builder.peek().nodes().size());
  ISOMER_TRY(const Updated updated,
             std::visit([&](const auto& chosen) { return update(step, chosen, trained); }, optimizer));
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(copies[output]);
  name_results(builder, trained, updated, out.first_state);
  outputs.insert(outputs.end(), updated.parameters.begin(), updated.parameters.end());
  outputs.insert(outputs.end(), updated.state.begin(), updated.state.end());
  out.graph = with_early_updates(builder.peek(), first_update, outputs);
  return out;
}

}  // namespace isomer
