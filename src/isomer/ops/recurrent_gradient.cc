#include "isomer/ops/recurrent_gradient.h"

#include <algorithm>
#include <optional>

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/product_gradient.h"
#include "isomer/ops/recurrent.h"

namespace isomer {
namespace {

// Values of all steps are [steps, batch, ...], in the order of time; those of one step have the extent 1 there.

using Values = std::vector<GraphValue>;
using enum RecurrentOperands::Operand;

GraphValue concatenated(const Values& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : parts[0].node().call("Concat", {{"axis", axis}}, parts);
}
/// The elements from `first` to `end` along an axis, of which there may be no others.
GraphValue range(const GraphValue& x, size_t axis, int64_t first, int64_t end) {
  return first == 0 && x.shape()[axis].is(end) ? x : sliced(x, axis, first, end);
}
GraphValue at(const GraphValue& x, int64_t time) { return range(x, 0, time, time + 1); }
/// Element `i` along an axis, without the axis.
GraphValue element(const GraphValue& x, size_t axis, int64_t i) {
  return x.node().call("Squeeze", {{"axes", Ints{static_cast<int64_t>(axis)}}}, {range(x, axis, i, i + 1)});
}
/// The sum over all steps and sequences of the products of each element of `a` with each one of `b`.
GraphValue outer_products(const GraphValue& a, const GraphValue& b) {
  return matmul(transposed(rows_of(a), {1, 0}), rows_of(b));
}
GraphValue over_steps(const GraphValue& x) { return summed(x, {0, 1}, false); }

[[noreturn]] void refuse_activation(const GraphValue& x) {
  x.node().refuse("of its activations, only Tanh, Sigmoid, Relu and Affine have a gradient");
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
      refuse_activation(x);
  }
}
/// The derivative of an activation where its result is `y`.
GraphValue slope(const Activation& f, const GraphValue& y) {
  switch (f.kind) {
    case Activation::Kind::Tanh:
      return 1 - y * y;
    case Activation::Kind::Sigmoid:
      return y * (1 - y);
    case Activation::Kind::Relu:
      return converted(above(y, 0), y.dtype());
    case Activation::Kind::Affine:
      return number(y, f.alpha);
    default:
      refuse_activation(y);
  }
}

/// One direction of a layer.
struct LayerDirection {
  int64_t steps, hidden;
  bool backwards;
  const Activation* functions;
  GraphValue x, w, r;
  std::optional<GraphValue> w_bias = {}, r_bias = {}, peephole = {};
  GraphValue zero;    // a state
  GraphValue y;       // the state after each step
  GraphValue before;  // the state before each step
  std::optional<GraphValue> initial_cell = {};
  std::optional<GraphValue> y_gradient = {};
  GraphValue h_gradient;  // for the last state
  std::optional<GraphValue> cell_gradient = {};

  /// The time of the k-th step.
  int64_t time(int64_t k) const { return backwards ? steps - 1 - k : k; }
  /// Values of all steps, in the order of time. `found` has them from the last step to the first one; if `forwards`,
  /// from the first one on.
  GraphValue in_time(Values found, bool forwards = false) const {
    if (forwards == backwards) std::ranges::reverse(found);
    return concatenated(found, 0);
  }
  /// What there was before each step: `first`, then what there was after the others, of which `all` has all.
  GraphValue shifted(const GraphValue& first, const GraphValue& all) const {
    if (steps == 1) return first;
    const GraphValue others = sliced(all, 0, backwards ? 1 : 0, backwards ? steps : steps - 1);
    return concatenated(backwards ? Values{others, first} : Values{first, others}, 0);
  }
  /// The part of gate `g`, along an axis.
  GraphValue gate(const GraphValue& all, size_t axis, size_t g) const {
    const auto first = static_cast<int64_t>(g) * hidden;
    return range(all, axis, first, first + hidden);
  }
  /// What gates get from the inputs, and from states by these rows of the weights, at all steps.
  GraphValue from_inputs() const {
    const GraphValue sums = matmul(x, transposed(w, {1, 0}));
    return w_bias ? sums + *w_bias : sums;
  }
  GraphValue from_states(const GraphValue& states, int64_t first, int64_t end) const {
    const GraphValue sums = matmul(states, transposed(range(r, 0, first, end), {1, 0}));
    return r_bias ? sums + range(*r_bias, 0, first, end) : sums;
  }
  /// The gradient for the state after a step: what the later steps give, and that for the layer's result.
  GraphValue with_output(const GraphValue& later, int64_t t) const {
    return y_gradient ? later + at(*y_gradient, t) : later;
  }
};

/// Gradients for one direction.
struct DirectionGradients {
  Values gates = {};                      // for what they get from the input at each step, last step first
  Values state_gates = {};                // for what they get from the state, if that differs
  std::optional<GraphValue> kept = {};    // what the last gate's weights are multiplied with, if it is not `before`
  std::optional<GraphValue> h = {};       // for the initial state
  std::optional<GraphValue> cell = {};    // for the initial cell
  std::optional<GraphValue> before = {};  // the cell before each step
  std::optional<GraphValue> after = {};   // and after it
};

DirectionGradients rnn_steps(const LayerDirection& d) {
  const GraphValue slopes = slope(d.functions[0], d.y);
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    out.gates.push_back(d.with_output(h, t) * (slopes.rank() == 0 ? slopes : at(slopes, t)));
    h = matmul(out.gates.back(), d.r);
  }
  out.h = h;
  return out;
}

DirectionGradients gru_steps(const LayerDirection& d, bool linear_before_reset) {
  enum Gate : size_t { kUpdate, kReset, kState };
  const Activation& gates = d.functions[0];
  const Activation& function = d.functions[1];
  const int64_t size = d.hidden;
  const GraphValue inputs = d.from_inputs();
  const GraphValue states = d.from_states(d.before, 0, linear_before_reset ? 3 * size : 2 * size);
  const auto gate = [&](Gate g) { return activated(gates, d.gate(inputs, 2, g) + d.gate(states, 2, g)); };
  const GraphValue update = gate(kUpdate);
  const GraphValue reset = gate(kReset);
  // What the reset gate is multiplied with: the product of the state with weights, or the state.
  const GraphValue subject = linear_before_reset ? d.gate(states, 2, kState) : d.before;
  const GraphValue kept = reset * subject;
  const GraphValue made = activated(
      function, d.gate(inputs, 2, kState) + (linear_before_reset ? kept : d.from_states(kept, 2 * size, 3 * size)));
  const GraphValue update_factor = (d.before - made) * slope(gates, update);
  const GraphValue made_factor = (1 - update) * slope(function, made);
  const GraphValue reset_factor = subject * slope(gates, reset);
  const GraphValue gates_r = range(d.r, 0, 0, 2 * size);
  const GraphValue state_r = range(d.r, 0, 2 * size, 3 * size);
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    const GraphValue g = d.with_output(h, t);
    const GraphValue to_made = g * at(made_factor, t);
    const GraphValue to_kept = linear_before_reset ? to_made : matmul(to_made, state_r);
    const GraphValue to_subject = to_kept * at(reset, t);
    const GraphValue to_gates = concatenated({g * at(update_factor, t), to_kept * at(reset_factor, t)}, 2);
    out.gates.push_back(concatenated({to_gates, to_made}, 2));
    if (linear_before_reset) out.state_gates.push_back(concatenated({to_gates, to_subject}, 2));
    h = g * at(update, t) + matmul(to_gates, gates_r) +
        (linear_before_reset ? matmul(to_subject, state_r) : to_subject);
  }
  out.h = h;
  if (!linear_before_reset) out.kept = kept;
  return out;
}

enum LstmGate : size_t { kInput, kOutput, kForget, kCell };

/// The gates of an LSTM, and its cells, at all steps.
struct LstmStates {
  GraphValue input, output, forget, candidate, before, cell;
};

/// Without peepholes: only the cells depend on each other.
LstmStates lstm_states(const LayerDirection& d, const GraphValue& sums, bool input_forget) {
  const auto gate = [&](LstmGate g) { return activated(d.functions[g == kCell ? 1 : 0], d.gate(sums, 2, g)); };
  const GraphValue input = gate(kInput), candidate = gate(kCell);
  const GraphValue forget = input_forget ? 1 - input : gate(kForget);
  const GraphValue added = input * candidate;
  Values cells;
  for (int64_t k = 0; k < d.steps; ++k) {
    const GraphValue before = k == 0 ? *d.initial_cell : cells.back();
    cells.push_back(at(forget, d.time(k)) * before + at(added, d.time(k)));
  }
  const GraphValue cell = d.in_time(cells, true);
  return {input, gate(kOutput), forget, candidate, d.shifted(*d.initial_cell, cell), cell};
}

LstmStates lstm_states_with_peepholes(const LayerDirection& d, const GraphValue& sums, bool input_forget) {
  Values inputs, outputs, forgets, cells;
  const GraphValue candidate = activated(d.functions[1], d.gate(sums, 2, kCell));
  for (int64_t k = 0; k < d.steps; ++k) {
    const GraphValue now = at(sums, d.time(k));
    const auto gate = [&](LstmGate g, const GraphValue& seen) {
      return activated(d.functions[0], d.gate(now, 2, g) + d.gate(*d.peephole, 0, g) * seen);
    };
    const GraphValue before = k == 0 ? *d.initial_cell : cells.back();
    inputs.push_back(gate(kInput, before));
    forgets.push_back(input_forget ? 1 - inputs.back() : gate(kForget, before));
    cells.push_back(forgets.back() * before + inputs.back() * at(candidate, d.time(k)));
    outputs.push_back(gate(kOutput, cells.back()));
  }
  const GraphValue cell = d.in_time(cells, true);
  return {d.in_time(inputs, true),          d.in_time(outputs, true),
          d.in_time(forgets, true),         candidate,
          d.shifted(*d.initial_cell, cell), cell};
}

DirectionGradients lstm_steps(const LayerDirection& d, bool input_forget) {
  const GraphValue sums = d.from_inputs() + d.from_states(d.before, 0, 4 * d.hidden);
  const LstmStates s =
      d.peephole ? lstm_states_with_peepholes(d, sums, input_forget) : lstm_states(d, sums, input_forget);
  const Activation& gates = d.functions[0];
  const GraphValue squashed = activated(d.functions[2], s.cell);
  const GraphValue output_factor = squashed * slope(gates, s.output);
  const GraphValue cell_factor = s.output * slope(d.functions[2], squashed);
  const GraphValue input_factor = (input_forget ? s.candidate - s.before : s.candidate) * slope(gates, s.input);
  const GraphValue forget_factor = s.before * slope(gates, s.forget);
  const GraphValue candidate_factor = s.input * slope(d.functions[1], s.candidate);
  const auto peep = [&](LstmGate g) { return d.gate(*d.peephole, 0, g); };
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  GraphValue c = *d.cell_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    const GraphValue g = d.with_output(h, t);
    const GraphValue to_output = g * at(output_factor, t);
    c = c + g * at(cell_factor, t);
    if (d.peephole) c = c + to_output * peep(kOutput);
    const GraphValue to_input = c * at(input_factor, t);
    const GraphValue to_forget = input_forget ? d.zero : c * at(forget_factor, t);
    out.gates.push_back(concatenated({to_input, to_output, to_forget, c * at(candidate_factor, t)}, 2));
    c = c * at(s.forget, t);
    if (d.peephole) c = c + to_input * peep(kInput);
    if (d.peephole && !input_forget) c = c + to_forget * peep(kForget);
    h = matmul(out.gates.back(), d.r);
  }
  out.h = h;
  out.cell = c;
  out.before = s.before;
  out.after = s.cell;
  return out;
}

/// A layer in time-major order, whatever its attribute `layout` says.
class LayerGradient {
 public:
  LayerGradient(Backward& node, Cell cell)
      : node_(node), cell_(cell), batch_first_(node.attrs().integer("layout") == 1), x_(turned(node.operand(kX))) {
    const Dim& steps = x_.shape()[0];
    if (!steps.is_const()) node.refuse(fmt::format("the number of steps, {}, is not known", steps.str()));
    if (steps.is(0)) node.refuse("a layer without steps has none");
    if (node.has(kLengths) && !are_full(node.operand(kLengths), steps.value()))
      node.refuse("sequences with lengths have none");
    if (node.attrs().has("clip")) node.refuse("a layer that clips has none");
    const int64_t directions = known_extent(node.operand(kR), 0);
    auto functions = read_activations(node.attrs(), cell, static_cast<size_t>(directions));
    if (!functions) node.refuse(functions.error().message);
    functions_ = std::move(*functions);
    for (int64_t i = 0; i < directions; ++i) directions_.push_back(direction(i));
  }

  void give_gradients() {
    std::optional<GraphValue> x;
    std::vector<Values> others(node_.num_operands());
    for (const LayerDirection& d : directions_) {
      const DirectionGradients found = steps_of(d);
      const GraphValue gates = d.in_time(found.gates);
      const GraphValue state_gates = found.state_gates.empty() ? gates : d.in_time(found.state_gates);
      if (node_.needs(kX)) {
        const GraphValue part = matmul(gates, d.w);
        x = x ? *x + part : part;
      }
      const auto keep = [&](size_t operand, const auto& gradient) {
        if (node_.needs(operand)) others[operand].push_back(gradient());
      };
      keep(kW, [&] { return unsqueezed(outer_products(gates, d.x), {0}); });
      keep(kR, [&] { return unsqueezed(weights_of_states(d, found, state_gates), {0}); });
      keep(kBias, [&] { return unsqueezed(concatenated({over_steps(gates), over_steps(state_gates)}, 0), {0}); });
      keep(kInitialH, [&] { return *found.h; });
      keep(kInitialC, [&] { return *found.cell; });
      keep(kPeephole, [&] { return unsqueezed(peepholes(d, found, gates), {0}); });
    }
    if (x) node_.give(kX, turned(*x));
    for (size_t i = kW; i < others.size(); ++i)
      if (!others[i].empty())
        node_.give(i, is_state(i) ? turned(concatenated(others[i], 0)) : concatenated(others[i], 0));
  }

 private:
  static bool is_state(size_t operand) { return operand == kInitialH || operand == kInitialC; }
  /// Whether all sequences have all steps.
  static bool are_full(const GraphValue& lengths, int64_t steps) {
    const Tensor* const known = lengths.node().constant_data(lengths);
    if (known == nullptr || known->dtype() != DType::Int32) return false;
    return std::ranges::all_of(known->data<int32_t>(), [&](int64_t length) { return length >= steps; });
  }
  /// Exchanges the first two axes if the layout has the batch first.
  GraphValue turned(const GraphValue& x) const { return batch_first_ ? transposed(x, {1, 0, 2}) : x; }
  /// The part of direction `i` of an operand.
  std::optional<GraphValue> part(size_t operand, int64_t i) {
    if (!node_.has(operand)) return std::nullopt;
    return is_state(operand) ? at(turned(node_.operand(operand)), i) : element(node_.operand(operand), 0, i);
  }
  GraphValue all_steps(const GraphValue& y, int64_t i) const {
    return element(batch_first_ ? transposed(y, {1, 2, 0, 3}) : y, 1, i);
  }

  LayerDirection direction(int64_t i) {
    const bool backwards = i == 1 || node_.attrs().text("direction") == "reverse";
    const GraphValue y = all_steps(node_.result(0), i);
    // There is no constant of this shape where the batch is not known.
    const GraphValue first = at(y, 0);
    const auto dims = concrete(first.shape());
    const GraphValue zero = dims ? node_.constant(Tensor::zeros(first.dtype(), *dims)) : 0 * first;
    const auto last = [&](size_t result) {
      return node_.has_gradient(result) ? at(turned(node_.gradient(result)), i) : zero;
    };
    LayerDirection out{.steps = x_.shape()[0].value(),
                       .hidden = known_extent(node_.operand(kR), 2),
                       .backwards = backwards,
                       .functions = functions_.data() + static_cast<size_t>(i) * activations_of(cell_),
                       .x = x_,
                       .w = *part(kW, i),
                       .r = *part(kR, i),
                       .peephole = part(kPeephole, i),
                       .zero = zero,
                       .y = y,
                       .before = y,
                       .h_gradient = last(1)};
    out.before = out.shifted(part(kInitialH, i).value_or(zero), y);
    if (const auto bias = part(kBias, i)) {
      const auto rows = static_cast<int64_t>(gates_of(cell_)) * out.hidden;
      out.w_bias = sliced(*bias, 0, 0, rows);
      out.r_bias = sliced(*bias, 0, rows, 2 * rows);
    }
    if (node_.has_gradient(0)) out.y_gradient = all_steps(node_.gradient(0), i);
    if (cell_ == Cell::Lstm) {
      out.initial_cell = part(kInitialC, i).value_or(zero);
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

  static GraphValue weights_of_states(const LayerDirection& d, const DirectionGradients& found,
                                      const GraphValue& gates) {
    if (!found.kept) return outer_products(gates, d.before);
    const int64_t rows = 2 * d.hidden;
    return concatenated({outer_products(sliced(gates, 2, 0, rows), d.before),
                         outer_products(sliced(gates, 2, rows, rows + d.hidden), *found.kept)},
                        0);
  }
  static GraphValue peepholes(const LayerDirection& d, const DirectionGradients& found, const GraphValue& gates) {
    return concatenated(
        {over_steps(d.gate(gates, 2, kInput) * *found.before), over_steps(d.gate(gates, 2, kOutput) * *found.after),
         over_steps(d.gate(gates, 2, kForget) * *found.before)},
        0);
  }

  Backward& node_;
  const Cell cell_;
  const bool batch_first_;
  const GraphValue x_;
  std::vector<Activation> functions_;
  std::vector<LayerDirection> directions_;
};

}  // namespace

void rnn_gradient(Backward& node) { LayerGradient(node, Cell::Rnn).give_gradients(); }
void gru_gradient(Backward& node) { LayerGradient(node, Cell::Gru).give_gradients(); }
void lstm_gradient(Backward& node) { LayerGradient(node, Cell::Lstm).give_gradients(); }

}  // namespace isomer
