#pragma once
// Gradients of recurrent layers by backpropagation through time (Werbos, "Backpropagation through time: what it does
// and how to do it", 1990). The states after each step are the layer's results. From them gates and the slopes of their
// activations are computed at once for all steps, and so are products with weights; an LSTM's cells and the gradients
// of states are computed step by step.

#include "isomer/ops/backward.h"

namespace isomer {

// The number of steps must be known. Sequences with lengths, clipping and activations other than Tanh, Sigmoid, Relu
// and Affine have no gradient.
void rnn_gradient(Backward& node);
void gru_gradient(Backward& node);
void lstm_gradient(Backward& node);

}  // namespace isomer
