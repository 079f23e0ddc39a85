#include "isomer/ops/recurrent_steps.h"

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/layer_direction.h"

namespace isomer {
namespace {

using enum LstmGates::Gate;

/// The state after each step of a direction, first step first, and the last cell of an LSTM.
struct DirectionSteps {
  GraphValues h = {};
  std::optional<GraphValue> cell = {};
};

DirectionSteps write_rnn(const LayerDirection& d) {
  const GraphValue inputs = d.from_inputs();
  DirectionSteps out;
  GraphValue h = d.initial_h;
  for (int64_t k = 0; k < d.steps; ++k) {
    h = activated(d.functions[0], at_time(inputs, d.time(k)) + d.from_states(h, 0, d.hidden));
    out.h.push_back(h);
  }
  return out;
}

DirectionSteps write_gru(const LayerDirection& d, bool linear_before_reset) {
  enum Gate : size_t { kUpdate, kReset, kState };
  const int64_t size = d.hidden;
  const GraphValue inputs = d.from_inputs();
  DirectionSteps out;
  GraphValue h = d.initial_h;
  for (int64_t k = 0; k < d.steps; ++k) {
    const GraphValue now = at_time(inputs, d.time(k));
    const GraphValue states = d.from_states(h, 0, linear_before_reset ? 3 * size : 2 * size);
    const auto gate = [&](Gate g) { return activated(d.functions[0], d.gate(now, 2, g) + d.gate(states, 2, g)); };
    const GraphValue update = gate(kUpdate), reset = gate(kReset);
    const GraphValue kept =
        linear_before_reset ? reset * d.gate(states, 2, kState) : d.from_states(reset * h, 2 * size, 3 * size);
    const GraphValue made = activated(d.functions[1], d.gate(now, 2, kState) + kept);
    h = (1 - update) * made + update * h;
    out.h.push_back(h);
  }
  return out;
}

DirectionSteps write_lstm(const LayerDirection& d, bool input_forget) {
  const GraphValue inputs = d.from_inputs();
  DirectionSteps out;
  GraphValue h = d.initial_h, cell = d.initial_cell;
  for (int64_t k = 0; k < d.steps; ++k) {
    const GraphValue sums = at_time(inputs, d.time(k)) + d.from_states(h, 0, 4 * d.hidden);
    const auto gate = [&](LstmGates::Gate g) {
      const GraphValue sum = d.gate(sums, 2, g);
      return activated(d.functions[0], d.peephole ? sum + d.gate(*d.peephole, 0, g) * cell : sum);
    };
    const GraphValue input = gate(kInput);
    const GraphValue forget = input_forget ? 1 - input : gate(kForget);
    cell = forget * cell + input * activated(d.functions[1], d.gate(sums, 2, kCell));
    h = gate(kOutput) * activated(d.functions[2], cell);
    out.h.push_back(h);
  }
  out.cell = cell;
  return out;
}

}  // namespace

std::vector<GraphValue> written_steps(NodeWriter& node, Cell cell) {
  const RecurrentParts parts(node, cell);
  const auto flag = [&](const char* name) { return node.attrs().integer(name) != 0; };
  GraphValues all, last_h, last_cell;
  for (const LayerDirection& d : parts.directions()) {
    const DirectionSteps steps = cell == Cell::Rnn   ? write_rnn(d)
                                 : cell == Cell::Gru ? write_gru(d, flag("linear_before_reset"))
                                                     : write_lstm(d, flag("input_forget"));
    all.push_back(d.in_time(steps.h, true));
    last_h.push_back(steps.h.back());
    if (steps.cell) last_cell.push_back(*steps.cell);
  }
  GraphValues results{parts.joined(all), parts.turned(concatenated(last_h, 0))};
  if (!last_cell.empty()) results.push_back(parts.turned(concatenated(last_cell, 0)));
  return results;
}

}  // namespace isomer
