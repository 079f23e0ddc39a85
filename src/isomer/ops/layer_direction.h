#pragma once
// The parts of a recurrent layer as GraphValues, for its gradient and for its steps written one by one. Values of all
// steps are [steps, batch, ...], in the order of time; those of one step have the extent 1 there.

#include <optional>

#include "isomer/ops/node_writer.h"
#include "isomer/ops/recurrent.h"

namespace isomer {

using GraphValues = std::vector<GraphValue>;

GraphValue concatenated(const GraphValues& parts, int64_t axis);
/// The elements from `first` to `end` along an axis, of which there may be no others.
GraphValue part_of(const GraphValue& x, size_t axis, int64_t first, int64_t end);
GraphValue at_time(const GraphValue& x, int64_t time);
/// Element `i` along an axis, without the axis.
GraphValue element_at(const GraphValue& x, size_t axis, int64_t i);

inline constexpr const char* kNoSuchActivation = "only the activations Tanh, Sigmoid, Relu and Affine are supported";
/// Refuses activations other than Tanh, Sigmoid, Relu and Affine.
GraphValue activated(const Activation& f, const GraphValue& x);

/// The gates of an LSTM, in the order of their weights.
struct LstmGates {
  enum Gate : size_t { kInput, kOutput, kForget, kCell };
};

/// One direction of a layer.
struct LayerDirection {
  int64_t index, steps, hidden;
  bool backwards;
  const Activation* functions;
  GraphValue x, w, r;
  std::optional<GraphValue> w_bias = {}, r_bias = {}, peephole = {};
  GraphValue zero;  ///< a state
  GraphValue initial_h;
  GraphValue initial_cell;  ///< of an LSTM

  /// The time of the k-th step.
  int64_t time(int64_t k) const { return backwards ? steps - 1 - k : k; }
  /// Values of all steps, in the order of time. `found` has them from the last step to the first one; if `forwards`,
  /// from the first one on.
  GraphValue in_time(GraphValues found, bool forwards = false) const;
  /// The part of gate `g`, along an axis.
  GraphValue gate(const GraphValue& all, size_t axis, size_t g) const;
  /// What gates get from the inputs at all steps, and from states by these rows of the weights.
  GraphValue from_inputs() const;
  GraphValue from_states(const GraphValue& states, int64_t first, int64_t end) const;
};

/// Reads the operands of a layer in time-major order, whatever its attribute `layout` says. Refuses sequences with
/// lengths, clipping, and a number of steps that is not known.
class RecurrentParts {
 public:
  RecurrentParts(NodeWriter& node, Cell cell);

  Cell cell() const { return cell_; }
  const std::vector<LayerDirection>& directions() const { return directions_; }
  /// Exchanges the first two axes if the layout has the batch first.
  GraphValue turned(const GraphValue& x) const;
  /// One direction of a value of the shape of Y.
  GraphValue all_steps(const GraphValue& y, int64_t direction) const;
  /// A value of the shape of Y from all its directions.
  GraphValue joined(const GraphValues& directions) const;

 private:
  LayerDirection direction(int64_t i, const GraphValue& x);
  /// The part of direction `i` of an operand.
  std::optional<GraphValue> part(size_t operand, int64_t i) const;

  NodeWriter& node_;
  const Cell cell_;
  const bool batch_first_;
  std::vector<Activation> functions_;
  std::vector<LayerDirection> directions_;
};

}  // namespace isomer
