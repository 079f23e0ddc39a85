#include "isomer/ops/recurrent_gradient.h"

#include <algorithm>
#include <optional>

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/product_gradient.h"
#include "isomer/ops/recurrent.h"

namespace isomer {
namespace {

using Values = std::vector<GraphValue>;
using enum RecurrentOperands::Operand;

GraphValue concatenated(const Values& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : parts[0].node().call("Concat", {{"axis", axis}}, parts);
}
/// The parts along a new first axis.
GraphValue stacked(const Values& parts) {
  Values out;
  for (const GraphValue& part : parts) out.push_back(unsqueezed(part, {0}));
  return concatenated(out, 0);
}
/// Element `i` along an axis, without the axis.
GraphValue at(const GraphValue& x, size_t axis, int64_t i) {
  return x.node().call("Squeeze", {{"axes", Ints{static_cast<int64_t>(axis)}}}, {sliced(x, axis, i, i + 1)});
}
/// The sum over all steps and sequences of the products of each element of `a` with each one of `b`.
GraphValue outer_products(const GraphValue& a, const GraphValue& b) {
  return matmul(transposed(rows_of(a), {1, 0}), rows_of(b));
}
void add_to(std::optional<GraphValue>& sum, const GraphValue& more) { sum = sum ? *sum + more : more; }

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
      x.node().refuse("only Tanh, Sigmoid, Relu and Affine have a gradient as its activations");
  }
}
/// The gradient for the argument of an activation whose result is `y`.
GraphValue through(const Activation& f, const GraphValue& y, const GraphValue& gradient) {
  switch (f.kind) {
    case Activation::Kind::Tanh:
      return gradient * (1 - y * y);
    case Activation::Kind::Sigmoid:
      return gradient * (y * (1 - y));
    case Activation::Kind::Relu:
      return masked(above(y, 0), gradient);
    default:
      return double{f.alpha} * gradient;
  }
}

/// One direction of a layer. Matrices of all steps are [steps, batch, ...], in the order of time.
struct LayerDirection {
  int64_t steps, hidden;
  bool backwards;
  const Activation* functions;
  GraphValue x, w, r;
  std::optional<GraphValue> w_bias = {}, r_bias = {}, peephole = {};
  GraphValue y;       // the state after each step
  GraphValue before;  // the state before each step
  std::optional<GraphValue> initial_cell = {};
  std::optional<GraphValue> y_gradient = {};
  GraphValue h_gradient;  // for the last state
  std::optional<GraphValue> cell_gradient = {};

  /// The time of the k-th step.
  int64_t time(int64_t k) const { return backwards ? steps - 1 - k : k; }
  /// The part of gate `g`, along an axis.
  GraphValue gate(const GraphValue& all, size_t axis, size_t g) const {
    const auto first = static_cast<int64_t>(g) * hidden;
    return sliced(all, axis, first, first + hidden);
  }
  /// What gates get from the input, and from the states by these rows of the weights, at all steps.
  GraphValue from_input() const {
    const GraphValue sums = matmul(x, transposed(w, {1, 0}));
    return w_bias ? sums + *w_bias : sums;
  }
  GraphValue from_states(const GraphValue& states, int64_t first, int64_t end) const {
    const GraphValue sums = matmul(states, transposed(sliced(r, 0, first, end), {1, 0}));
    return r_bias ? sums + sliced(*r_bias, 0, first, end) : sums;
  }
  /// Adds the gradient for the state after a step at time `t` to what later steps give.
  GraphValue with_output(const GraphValue& later, int64_t t) const {
    return y_gradient ? later + at(*y_gradient, 0, t) : later;
  }
};

/// The gradients of one direction: for what gates get from inputs and from states, in the order of the steps backwards.
struct DirectionGradients {
  Values gates = {};
  Values state_gates = {};              // if they differ
  Values kept = {};                     // the states with which the last gate is multiplied, if it is not `before`
  std::optional<GraphValue> h = {};     // for the initial state
  std::optional<GraphValue> cell = {};  // for the initial cell
  std::optional<GraphValue> peephole = {};
};

DirectionGradients rnn_steps(const LayerDirection& d) {
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    out.gates.push_back(through(d.functions[0], at(d.y, 0, t), d.with_output(h, t)));
    h = matmul(out.gates.back(), d.r);
  }
  out.h = h;
  return out;
}

DirectionGradients gru_steps(const LayerDirection& d, bool linear_before_reset) {
  enum Gate : size_t { kUpdate, kReset, kState };
  const Activation& gate_function = d.functions[0];
  const Activation& function = d.functions[1];
  const int64_t size = d.hidden;
  const GraphValue inputs = d.from_input();
  const GraphValue states = d.from_states(d.before, 0, linear_before_reset ? 3 * size : 2 * size);
  const auto gate = [&](Gate g) { return activated(gate_function, d.gate(inputs, 2, g) + d.gate(states, 2, g)); };
  const GraphValue all_updates = gate(kUpdate);
  const GraphValue all_resets = gate(kReset);
  // What the reset gate is multiplied with: the state, or its product with the weights.
  const GraphValue all_reset = linear_before_reset ? d.gate(states, 2, kState) : d.before;
  const GraphValue all_kept = all_resets * all_reset;
  const GraphValue all_new =
      activated(function, d.gate(inputs, 2, kState) +
                              (linear_before_reset ? all_kept : d.from_states(all_kept, 2 * size, 3 * size)));
  const GraphValue gates_r = sliced(d.r, 0, 0, 2 * size);
  const GraphValue state_r = sliced(d.r, 0, 2 * size, 3 * size);
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    const GraphValue update = at(all_updates, 0, t), reset = at(all_resets, 0, t), made = at(all_new, 0, t);
    const GraphValue before = at(d.before, 0, t);
    const GraphValue g = d.with_output(h, t);
    const GraphValue to_update = through(gate_function, update, g * (before - made));
    const GraphValue to_state = through(function, made, g * (1 - update));
    const GraphValue to_kept = linear_before_reset ? to_state : matmul(to_state, state_r);
    const GraphValue to_reset = through(gate_function, reset, to_kept * at(all_reset, 0, t));
    const GraphValue after_reset = to_kept * reset;
    const GraphValue gates = concatenated({to_update, to_reset}, 1);
    h = g * update + matmul(gates, gates_r) + (linear_before_reset ? matmul(after_reset, state_r) : after_reset);
    out.gates.push_back(concatenated({gates, to_state}, 1));
    if (linear_before_reset)
      out.state_gates.push_back(concatenated({gates, after_reset}, 1));
    else
      out.kept.push_back(at(all_kept, 0, t));
  }
  out.h = h;
  return out;
}

DirectionGradients lstm_steps(const LayerDirection& d, bool input_forget) {
  enum Gate : size_t { kIn, kOut, kForget, kCell };
  const Activation& gate_function = d.functions[0];
  const Activation& function = d.functions[1];
  const Activation& cell_function = d.functions[2];
  const GraphValue sums = d.from_input() + d.from_states(d.before, 0, 4 * d.hidden);
  const auto peep = [&](Gate g) { return d.gate(*d.peephole, 0, g); };
  struct LstmStep {
    GraphValue in, out, forget, candidate, before, cell, squashed;
  };
  std::vector<LstmStep> steps;
  GraphValue cell = *d.initial_cell;
  for (int64_t k = 0; k < d.steps; ++k) {
    const GraphValue now = at(sums, 0, d.time(k));
    const auto gate = [&](Gate g, const GraphValue& seen) {
      const GraphValue sum = d.gate(now, 1, g);
      return activated(gate_function, d.peephole ? sum + peep(g) * seen : sum);
    };
    const GraphValue in = gate(kIn, cell);
    const GraphValue forget = input_forget ? 1 - in : gate(kForget, cell);
    const GraphValue candidate = activated(function, d.gate(now, 1, kCell));
    const GraphValue next = forget * cell + in * candidate;
    steps.push_back({in, gate(kOut, next), forget, candidate, cell, next, activated(cell_function, next)});
    cell = next;
  }
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  GraphValue c = *d.cell_gradient;
  std::optional<GraphValue> peeps[3];
  const auto add_peep = [&](Gate g, const GraphValue& gradient, const GraphValue& seen) {
    if (d.peephole) add_to(peeps[g], summed(gradient * seen, {0}, false));
  };
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const LstmStep& step = steps[static_cast<size_t>(k)];
    const GraphValue g = d.with_output(h, d.time(k));
    const GraphValue to_out = through(gate_function, step.out, g * step.squashed);
    c = c + through(cell_function, step.squashed, g * step.out);
    if (d.peephole) c = c + to_out * peep(kOut);
    const GraphValue for_in = input_forget ? c * (step.candidate - step.before) : c * step.candidate;
    const GraphValue to_in = through(gate_function, step.in, for_in);
    const GraphValue to_forget = input_forget ? 0 * to_in : through(gate_function, step.forget, c * step.before);
    out.gates.push_back(concatenated({to_in, to_out, to_forget, through(function, step.candidate, c * step.in)}, 1));
    add_peep(kIn, to_in, step.before);
    add_peep(kOut, to_out, step.cell);
    add_peep(kForget, to_forget, step.before);
    c = c * step.forget;
    if (d.peephole) c = c + to_in * peep(kIn) + to_forget * peep(kForget);
    h = matmul(out.gates.back(), d.r);
  }
  out.h = h;
  out.cell = c;
  if (d.peephole) out.peephole = concatenated({*peeps[kIn], *peeps[kOut], *peeps[kForget]}, 0);
  return out;
}

/// A layer in time-major order, whatever its attribute `layout` says.
class LayerGradient {
 public:
  LayerGradient(Backward& node, Cell cell)
      : node_(node), cell_(cell), batch_first_(node.attrs().integer("layout") == 1) {
    const int64_t directions = known_extent(node.operand(kR), 0);
    if (node.has(kLengths)) node.refuse("sequences with lengths have no gradient");
    if (node.attrs().has("clip")) node.refuse("a layer that clips has no gradient");
    auto functions = read_activations(node.attrs(), cell, static_cast<size_t>(directions));
    if (!functions) node.refuse(functions.error().message);
    functions_ = std::move(*functions);
    for (int64_t d = 0; d < directions; ++d) directions_.push_back(direction(d));
  }

  void give_gradients() {
    std::optional<GraphValue> x;
    std::vector<Values> others(node_.num_operands());
    for (const LayerDirection& d : directions_) {
      const DirectionGradients found = steps_of(d);
      const GraphValue gates = in_time(d, found.gates);
      const GraphValue state_gates = found.state_gates.empty() ? gates : in_time(d, found.state_gates);
      if (node_.needs(kX)) add_to(x, matmul(gates, d.w));
      const auto keep = [&](size_t operand, const std::optional<GraphValue>& gradient) {
        if (node_.needs(operand)) others[operand].push_back(*gradient);
      };
      if (node_.needs(kW)) keep(kW, outer_products(gates, d.x));
      if (node_.needs(kR)) keep(kR, weights_of_states(d, found, state_gates));
      if (node_.needs(kBias))
        keep(kBias, concatenated({summed(gates, {0, 1}, false), summed(state_gates, {0, 1}, false)}, 0));
      keep(kInitialH, found.h);
      keep(kInitialC, found.cell);
      keep(kPeephole, found.peephole);
    }
    if (x) node_.give(kX, batch_first_ ? transposed(*x, {1, 0, 2}) : *x);
    for (size_t i = kW; i < others.size(); ++i)
      if (!others[i].empty()) node_.give(i, is_state(i) ? turned(stacked(others[i])) : stacked(others[i]));
  }

 private:
  static bool is_state(size_t operand) { return operand == kInitialH || operand == kInitialC; }
  /// States [directions, batch, hidden] from those of the layout, or the reverse.
  GraphValue turned(const GraphValue& states) const { return batch_first_ ? transposed(states, {1, 0, 2}) : states; }
  /// The part of direction `d` of an operand, or of a gradient of a result.
  std::optional<GraphValue> part(size_t operand, int64_t d) {
    if (!node_.has(operand)) return std::nullopt;
    return at(is_state(operand) ? turned(node_.operand(operand)) : node_.operand(operand), 0, d);
  }
  GraphValue all_steps(const GraphValue& y, int64_t d) const {
    return at(batch_first_ ? transposed(y, {1, 2, 0, 3}) : y, 1, d);
  }

  LayerDirection direction(int64_t d) {
    const GraphValue x = batch_first_ ? transposed(node_.operand(kX), {1, 0, 2}) : node_.operand(kX);
    const int64_t steps = known_extent(x, 0), hidden = known_extent(node_.operand(kR), 2);
    const bool backwards = d == 1 || node_.attrs().text("direction") == "reverse";
    const GraphValue y = all_steps(node_.result(0), d);
    const GraphValue none = 0 * at(y, 0, 0);
    const auto or_none = [&](const std::optional<GraphValue>& value) { return value ? *value : none; };
    Values before{unsqueezed(or_none(part(kInitialH, d)), {0})};
    if (steps > 1)
      before.insert(backwards ? before.begin() : before.end(),
                    sliced(y, 0, backwards ? 1 : 0, backwards ? steps : steps - 1));
    const auto last = [&](size_t result) {
      return node_.has_gradient(result) ? at(turned(node_.gradient(result)), 0, d) : none;
    };
    const size_t each = activations_of(cell_);
    LayerDirection out{.steps = steps,
                       .hidden = hidden,
                       .backwards = backwards,
                       .functions = functions_.data() + static_cast<size_t>(d) * each,
                       .x = x,
                       .w = *part(kW, d),
                       .r = *part(kR, d),
                       .peephole = part(kPeephole, d),
                       .y = y,
                       .before = concatenated(before, 0),
                       .h_gradient = last(1)};
    if (const auto bias = part(kBias, d)) {
      const auto rows = static_cast<int64_t>(gates_of(cell_)) * hidden;
      out.w_bias = sliced(*bias, 0, 0, rows);
      out.r_bias = sliced(*bias, 0, rows, 2 * rows);
    }
    if (node_.has_gradient(0)) out.y_gradient = all_steps(node_.gradient(0), d);
    if (cell_ == Cell::Lstm) {
      out.initial_cell = or_none(part(kInitialC, d));
      out.cell_gradient = last(2);
    }
    return out;
  }

  DirectionGradients steps_of(const LayerDirection& d) const {
    const auto flag = [&](const char* name) { return node_.attrs().integer(name) != 0; };
    switch (cell_) {
      case Cell::Rnn:
        return rnn_steps(d);
      case Cell::Gru:
        return gru_steps(d, flag("linear_before_reset"));
      case Cell::Lstm:
        break;
    }
    return lstm_steps(d, flag("input_forget"));
  }

  /// DirectionGradients of all steps, which were found backwards, in the order of time.
  static GraphValue in_time(const LayerDirection& d, Values found) {
    if (!d.backwards) std::ranges::reverse(found);
    return stacked(found);
  }

  static GraphValue weights_of_states(const LayerDirection& d, const DirectionGradients& found,
                                      const GraphValue& gates) {
    if (found.kept.empty()) return outer_products(gates, d.before);
    const int64_t rows = 2 * d.hidden;
    return concatenated({outer_products(sliced(gates, 2, 0, rows), d.before),
                         outer_products(sliced(gates, 2, rows, rows + d.hidden), in_time(d, found.kept))},
                        0);
  }

  Backward& node_;
  const Cell cell_;
  const bool batch_first_;
  std::vector<Activation> functions_;
  std::vector<LayerDirection> directions_;
};

}  // namespace

void rnn_gradient(Backward& node) { LayerGradient(node, Cell::Rnn).give_gradients(); }
void gru_gradient(Backward& node) { LayerGradient(node, Cell::Gru).give_gradients(); }
void lstm_gradient(Backward& node) { LayerGradient(node, Cell::Lstm).give_gradients(); }

}  // namespace isomer
