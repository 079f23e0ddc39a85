#include "isomer/ops/recurrent_gradient.h"

#include <algorithm>
#include <optional>

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/layer_direction.h"
#include "isomer/ops/product_gradient.h"

namespace isomer {
namespace {

using enum RecurrentOperands::Operand;
using enum LstmGates::Gate;

/// The sum over all steps and sequences of the products of each element of `a` with each one of `b`.
GraphValue outer_products(const GraphValue& a, const GraphValue& b) {
  return matmul(transposed(rows_of(a), {1, 0}), rows_of(b));
}
GraphValue over_steps(const GraphValue& x) { return summed(x, {0, 1}, false); }

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
      y.node().refuse(kNoSuchActivation);
  }
}

/// One direction of a layer, with its results and their gradients.
struct DirectionBackward : LayerDirection {
  GraphValue y;       // the state after each step
  GraphValue before;  // the state before each step
  std::optional<GraphValue> y_gradient = {};
  GraphValue h_gradient;  // for the last state
  std::optional<GraphValue> cell_gradient = {};

  /// What there was before each step: `first`, then what there was after the others, of which `all` has all.
  GraphValue shifted(const GraphValue& first, const GraphValue& all) const {
    if (steps == 1) return first;
    const GraphValue others = sliced(all, 0, backwards ? 1 : 0, backwards ? steps : steps - 1);
    return concatenated(backwards ? GraphValues{others, first} : GraphValues{first, others}, 0);
  }
  /// The gradient for the state after a step: what the later steps give, and that for the layer's result.
  GraphValue with_output(const GraphValue& later, int64_t t) const {
    return y_gradient ? later + at_time(*y_gradient, t) : later;
  }
};

/// Gradients for one direction.
struct DirectionGradients {
  GraphValues gates = {};                 // for what they get from the input at each step, last step first
  GraphValues state_gates = {};           // for what they get from the state, if that differs
  std::optional<GraphValue> kept = {};    // what the last gate's weights are multiplied with, if it is not `before`
  std::optional<GraphValue> h = {};       // for the initial state
  std::optional<GraphValue> cell = {};    // for the initial cell
  std::optional<GraphValue> before = {};  // the cell before each step
  std::optional<GraphValue> after = {};   // and after it
};

DirectionGradients rnn_steps(const DirectionBackward& d) {
  const GraphValue slopes = slope(d.functions[0], d.y);
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    out.gates.push_back(d.with_output(h, t) * (slopes.rank() == 0 ? slopes : at_time(slopes, t)));
    h = matmul(out.gates.back(), d.r);
  }
  out.h = h;
  return out;
}

DirectionGradients gru_steps(const DirectionBackward& d, bool linear_before_reset) {
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
  const GraphValue gates_r = part_of(d.r, 0, 0, 2 * size);
  const GraphValue state_r = part_of(d.r, 0, 2 * size, 3 * size);
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    const GraphValue g = d.with_output(h, t);
    const GraphValue to_made = g * at_time(made_factor, t);
    const GraphValue to_kept = linear_before_reset ? to_made : matmul(to_made, state_r);
    const GraphValue to_subject = to_kept * at_time(reset, t);
    const GraphValue to_gates = concatenated({g * at_time(update_factor, t), to_kept * at_time(reset_factor, t)}, 2);
    out.gates.push_back(concatenated({to_gates, to_made}, 2));
    if (linear_before_reset) out.state_gates.push_back(concatenated({to_gates, to_subject}, 2));
    h = g * at_time(update, t) + matmul(to_gates, gates_r) +
        (linear_before_reset ? matmul(to_subject, state_r) : to_subject);
  }
  out.h = h;
  if (!linear_before_reset) out.kept = kept;
  return out;
}

/// The gates of an LSTM, and its cells, at all steps.
struct LstmStates {
  GraphValue input, output, forget, candidate, before, cell;
};

/// Without peepholes: only the cells depend on each other.
LstmStates lstm_states(const DirectionBackward& d, const GraphValue& sums, bool input_forget) {
  const auto gate = [&](LstmGates::Gate g) { return activated(d.functions[g == kCell ? 1 : 0], d.gate(sums, 2, g)); };
  const GraphValue input = gate(kInput), candidate = gate(kCell);
  const GraphValue forget = input_forget ? 1 - input : gate(kForget);
  const GraphValue added = input * candidate;
  GraphValues cells;
  for (int64_t k = 0; k < d.steps; ++k) {
    const GraphValue before = k == 0 ? d.initial_cell : cells.back();
    cells.push_back(at_time(forget, d.time(k)) * before + at_time(added, d.time(k)));
  }
  const GraphValue cell = d.in_time(cells, true);
  return {input, gate(kOutput), forget, candidate, d.shifted(d.initial_cell, cell), cell};
}

LstmStates lstm_states_with_peepholes(const DirectionBackward& d, const GraphValue& sums, bool input_forget) {
  GraphValues inputs, outputs, forgets, cells;
  const GraphValue candidate = activated(d.functions[1], d.gate(sums, 2, kCell));
  for (int64_t k = 0; k < d.steps; ++k) {
    const GraphValue now = at_time(sums, d.time(k));
    const auto gate = [&](LstmGates::Gate g, const GraphValue& seen) {
      return activated(d.functions[0], d.gate(now, 2, g) + d.gate(*d.peephole, 0, g) * seen);
    };
    const GraphValue before = k == 0 ? d.initial_cell : cells.back();
    inputs.push_back(gate(kInput, before));
    forgets.push_back(input_forget ? 1 - inputs.back() : gate(kForget, before));
    cells.push_back(forgets.back() * before + inputs.back() * at_time(candidate, d.time(k)));
    outputs.push_back(gate(kOutput, cells.back()));
  }
  const GraphValue cell = d.in_time(cells, true);
  return {d.in_time(inputs, true),         d.in_time(outputs, true),
          d.in_time(forgets, true),        candidate,
          d.shifted(d.initial_cell, cell), cell};
}

DirectionGradients lstm_steps(const DirectionBackward& d, bool input_forget) {
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
  const auto peep = [&](LstmGates::Gate g) { return d.gate(*d.peephole, 0, g); };
  DirectionGradients out;
  GraphValue h = d.h_gradient;
  GraphValue c = *d.cell_gradient;
  for (int64_t k = d.steps - 1; k >= 0; --k) {
    const int64_t t = d.time(k);
    const GraphValue g = d.with_output(h, t);
    const GraphValue to_output = g * at_time(output_factor, t);
    c = c + g * at_time(cell_factor, t);
    if (d.peephole) c = c + to_output * peep(kOutput);
    const GraphValue to_input = c * at_time(input_factor, t);
    const GraphValue to_forget = input_forget ? d.zero : c * at_time(forget_factor, t);
    out.gates.push_back(concatenated({to_input, to_output, to_forget, c * at_time(candidate_factor, t)}, 2));
    c = c * at_time(s.forget, t);
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

/// The gradient of a layer, in time-major order, whatever its attribute `layout` says.
class LayerGradient {
 public:
  LayerGradient(Backward& node, Cell cell) : node_(node), parts_(node, cell) {
    for (const LayerDirection& direction : parts_.directions()) directions_.push_back(with_gradients(direction));
  }

  void give_gradients() {
    std::optional<GraphValue> x;
    std::vector<GraphValues> others(node_.num_operands());
    for (const DirectionBackward& d : directions_) {
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
  GraphValue turned(const GraphValue& x) const { return parts_.turned(x); }

  DirectionBackward with_gradients(const LayerDirection& d) {
    const auto all_steps = [&](const GraphValue& y) { return parts_.all_steps(y, d.index); };
    const auto last = [&](size_t result) {
      return node_.has_gradient(result) ? at_time(turned(node_.gradient(result)), d.index) : d.zero;
    };
    const GraphValue y = all_steps(node_.result(0));
    DirectionBackward out{{d}, y, y, {}, last(1)};
    out.before = out.shifted(d.initial_h, y);
    if (node_.has_gradient(0)) out.y_gradient = all_steps(node_.gradient(0));
    if (parts_.cell() == Cell::Lstm) out.cell_gradient = last(2);
    return out;
  }

  DirectionGradients steps_of(const DirectionBackward& d) const {
    const auto flag = [&](const char* name) { return node_.attrs().integer(name) != 0; };
    switch (parts_.cell()) {
      case Cell::Rnn:
        return rnn_steps(d);
      case Cell::Gru:
        return gru_steps(d, flag("linear_before_reset"));
      case Cell::Lstm:
        break;
    }
    return lstm_steps(d, flag("input_forget"));
  }

  static GraphValue weights_of_states(const DirectionBackward& d, const DirectionGradients& found,
                                      const GraphValue& gates) {
    if (!found.kept) return outer_products(gates, d.before);
    const int64_t rows = 2 * d.hidden;
    return concatenated({outer_products(sliced(gates, 2, 0, rows), d.before),
                         outer_products(sliced(gates, 2, rows, rows + d.hidden), *found.kept)},
                        0);
  }
  static GraphValue peepholes(const DirectionBackward& d, const DirectionGradients& found, const GraphValue& gates) {
    return concatenated(
        {over_steps(d.gate(gates, 2, kInput) * *found.before), over_steps(d.gate(gates, 2, kOutput) * *found.after),
         over_steps(d.gate(gates, 2, kForget) * *found.before)},
        0);
  }

  Backward& node_;
  const RecurrentParts parts_;
  std::vector<DirectionBackward> directions_;
};

}  // namespace

void rnn_gradient(Backward& node) { LayerGradient(node, Cell::Rnn).give_gradients(); }
void gru_gradient(Backward& node) { LayerGradient(node, Cell::Gru).give_gradients(); }
void lstm_gradient(Backward& node) { LayerGradient(node, Cell::Lstm).give_gradients(); }

}  // namespace isomer
