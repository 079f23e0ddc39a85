#pragma once
// A recurrent layer in oneDNN's terms: RNN, GRU or LSTM.

#include <optional>

#include "isomer/engine/onednn/desc.h"
#include "isomer/ir/graph.h"
#include "isomer/ops/recurrent.h"

namespace isomer::onednn {

struct RecurrentLayer {
  Cell cell = Cell::Rnn;
  dnnl::algorithm activation = dnnl::algorithm::undef;  ///< of an RNN
  bool linear_before_reset = false;
  dnnl::rnn_direction direction = dnnl::rnn_direction::unidirectional_left2right;
  int64_t steps = 0, batch = 0, input = 0, directions = 1, hidden = 0;
  const Tensor* w = nullptr;  ///< of the graph, like the other tensors
  const Tensor* r = nullptr;
  const Tensor* bias = nullptr;  ///< nullptr: none
  ValueId x = kNoValue, initial_h = kNoValue, initial_c = kNoValue;

  int64_t gates() const { return static_cast<int64_t>(gates_of(cell)); }
  /// Returns whether the state's bias of the candidate gate is separate, since the reset gate applies to it.
  bool bias_apart() const { return cell == Cell::Gru && linear_before_reset; }
  /// Returns the weights of the input or of the state, [directions, gates * hidden, columns], with the gates in
  /// oneDNN's order.
  Tensor weights(const Tensor& given) const;
  /// Returns the sums of both biases of each gate, [1, directions, gates, hidden]; a separate bias follows them. Zeros
  /// if there is no bias, since oneDNN needs one.
  Tensor one_bias() const;

 private:
  std::vector<int64_t> order() const;
};

/// Returns the cell of a recurrent layer; nothing for other nodes.
std::optional<Cell> recurrent_cell(const Node& node);

/// Returns the layer of a node; nothing if oneDNN cannot compute it.
Result<std::optional<RecurrentLayer>> read_recurrent(const Graph& graph, const Node& node);

}  // namespace isomer::onednn
