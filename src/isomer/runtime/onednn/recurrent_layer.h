#pragma once
// A recurrent layer as oneDNN has it: RNN, GRU or LSTM.

#include <optional>

#include "isomer/ir/graph.h"
#include "isomer/ops/recurrent.h"
#include "isomer/runtime/onednn/desc.h"

namespace isomer::onednn {

struct RecurrentLayer {
  Cell cell = Cell::Rnn;
  dnnl::algorithm activation = dnnl::algorithm::undef;  ///< of an RNN
  bool linear_before_reset = false;
  dnnl::rnn_direction direction = dnnl::rnn_direction::unidirectional_left2right;
  int64_t steps = 0, batch = 0, input = 0, directions = 1, hidden = 0;
  const Tensor* w = nullptr;  ///< of the graph, like the others
  const Tensor* r = nullptr;
  const Tensor* bias = nullptr;  ///< null: none
  ValueId x = kNoValue, initial_h = kNoValue, initial_c = kNoValue;

  int64_t gates() const { return static_cast<int64_t>(gates_of(cell)); }
  /// Whether the bias of the state that makes the candidate counts by itself, since it is reset.
  bool bias_apart() const { return cell == Cell::Gru && linear_before_reset; }
  /// The weights of the input or of the state, [directions, gates * hidden, columns], with the gates in oneDNN's order.
  Tensor weights(const Tensor& given) const;
  /// Both biases of each gate in one, [1, directions, gates, hidden]; one that stays apart stands behind.
  /// Zeros where there is none: oneDNN wants one.
  Tensor one_bias() const;

 private:
  std::vector<int64_t> order() const;
};

/// What a node says; nothing where oneDNN cannot do it.
Result<std::optional<RecurrentLayer>> read_recurrent(const Graph& graph, const Node& node);

}  // namespace isomer::onednn
