#pragma once
// Gradients of recurrent layers by backpropagation through time. Only what depends on the step before is computed step
// by step; products with weights that do not are one product for all steps.

#include "isomer/ops/backward.h"

namespace isomer {

// The number of steps must be known. Lengths of sequences, clipping and activations other than Tanh, Sigmoid, Relu and
// Affine have no gradient.
void rnn_gradient(Backward& node);
void gru_gradient(Backward& node);
void lstm_gradient(Backward& node);

}  // namespace isomer
