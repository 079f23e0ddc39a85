#pragma once
// Recurrent layers written out step by step.

#include "isomer/ops/node_writer.h"
#include "isomer/ops/recurrent.h"

namespace isomer {

/// The results of an RNN, GRU or LSTM (Y, Y_h and, of an LSTM, Y_c) as ordinary operators: one product of the inputs of
/// all steps, then one of the state at each step. Refuses what RecurrentParts and activated() refuse
/// (ops/layer_direction.h).
std::vector<GraphValue> written_steps(NodeWriter& node, Cell cell);

}  // namespace isomer
