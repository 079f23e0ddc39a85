#pragma once
// One time step of the recurrent operators, over any domain.

#include <string>
#include <vector>

#include "isomer/ops/scalars.h"

namespace isomer {

enum class Cell : uint8_t { Rnn, Gru, Lstm };

/// The operands of a recurrent layer.
struct RecurrentOperands {
  enum Operand : size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeephole };
};

/// The number of gates of a cell (its weights have this many times the hidden size), and of its activation functions.
constexpr size_t gates_of(Cell cell) { return cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 3 : 4; }
constexpr size_t activations_of(Cell cell) { return cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 2 : 3; }

struct Activation {
  enum class Kind : uint8_t {
    Relu,
    Tanh,
    Sigmoid,
    Affine,
    LeakyRelu,
    ThresholdedRelu,
    ScaledTanh,
    HardSigmoid,
    Elu,
    Softsign,
    Softplus
  };
  Kind kind;
  float alpha = 1;
  float beta = 0;
};

/// The activations of a node for `directions` directions: those that it names, with their parameters, or the cell's
/// defaults.
Result<std::vector<Activation>> read_activations(const Attrs& attrs, Cell cell, size_t directions);

template <class T>
T activate(const Activation& f, T x) {
  const T alpha = scalar<T>(f.alpha);
  const T beta = scalar<T>(f.beta);
  switch (f.kind) {
    case Activation::Kind::Relu:
      return scalar_max<T>(x, T(0));
    case Activation::Kind::Tanh:
      return scalar_tanh(x);
    case Activation::Kind::Sigmoid:
      return scalar_sigmoid(x);
    case Activation::Kind::Affine:
      return alpha * x + beta;
    case Activation::Kind::LeakyRelu:
      return scalar_leaky_relu(x, alpha);
    case Activation::Kind::ThresholdedRelu:
      return scalar_greater(alpha, x) ? T(0) : x;
    case Activation::Kind::ScaledTanh:
      return alpha * scalar_tanh<T>(beta * x);
    case Activation::Kind::HardSigmoid:
      return scalar_hard_sigmoid(x, alpha, beta);
    case Activation::Kind::Elu:
      return scalar_elu(x, alpha);
    case Activation::Kind::Softsign:
      return scalar_softsign(x);
    case Activation::Kind::Softplus:
      return scalar_softplus(x);
  }
  return x;
}

/// One direction of a layer: its weights (nullptr if the node has none) and functions.
template <class T>
struct CellStep {
  size_t input, hidden, gates;
  const T* w;         // [gates * hidden, input]
  const T* r;         // [gates * hidden, hidden]
  const T* bias;      // [2 * gates * hidden]: of w, then of r
  const T* peephole;  // [3 * hidden]: input, output, forget
  const Activation* functions;
  const float* clip;
  bool linear_before_reset = false;
  bool input_forget = false;

  T product(const T* row, const T* x, size_t n, const T* addend) const {
    Accumulator<T> sum = addend == nullptr ? Accumulator<T>(0) : Accumulator<T>(*addend);
    for (size_t i = 0; i < n; ++i) sum = sum + static_cast<Accumulator<T>>(row[i]) * static_cast<Accumulator<T>>(x[i]);
    return static_cast<T>(sum);
  }
  /// Row `row` of W x and of R h, with bias.
  T from_input(size_t row, const T* x) const {
    return product(w + row * input, x, input, bias == nullptr ? nullptr : bias + row);
  }
  T from_state(size_t row, const T* h) const {
    return product(r + row * hidden, h, hidden, bias == nullptr ? nullptr : bias + gates * hidden + row);
  }
  /// The i-th activation function of the clipped argument.
  T apply(size_t i, T x) const {
    if (clip != nullptr) x = scalar_clip<T>(x, scalar<T>(-*clip), scalar<T>(*clip));
    return activate(functions[i], x);
  }

  /// Computes the next h (and c, for an LSTM) from input x, in place.
  void run(Cell cell, const T* x, std::vector<T>& h, std::vector<T>& c) const {
    if (cell == Cell::Rnn)
      rnn(x, h);
    else if (cell == Cell::Gru)
      gru(x, h);
    else
      lstm(x, h, c);
  }

 private:
  void rnn(const T* x, std::vector<T>& h) const {
    const std::vector<T> before = h;
    for (size_t j = 0; j < hidden; ++j) h[j] = apply(0, from_input(j, x) + from_state(j, before.data()));
  }

  void gru(const T* x, std::vector<T>& h) const {
    const std::vector<T> before = h;
    std::vector<T> update(hidden);
    std::vector<T> reset(hidden);
    std::vector<T> kept(hidden);  // the state after the reset gate
    for (size_t j = 0; j < hidden; ++j) {
      update[j] = apply(0, from_input(j, x) + from_state(j, before.data()));
      reset[j] = apply(0, from_input(hidden + j, x) + from_state(hidden + j, before.data()));
      kept[j] = reset[j] * before[j];
    }
    for (size_t j = 0; j < hidden; ++j) {
      const size_t row = 2 * hidden + j;
      const T state = linear_before_reset ? reset[j] * from_state(row, before.data()) : from_state(row, kept.data());
      h[j] = (T(1) - update[j]) * apply(1, from_input(row, x) + state) + update[j] * before[j];
    }
  }

  void lstm(const T* x, std::vector<T>& h, std::vector<T>& c) const {
    const std::vector<T> before = h;
    const auto gate = [&](size_t g, size_t j) {
      return from_input(g * hidden + j, x) + from_state(g * hidden + j, before.data());
    };
    const auto peep = [&](size_t g, size_t j) { return peephole == nullptr ? T(0) : peephole[g * hidden + j] * c[j]; };
    for (size_t j = 0; j < hidden; ++j) {
      const T in = apply(0, gate(0, j) + peep(0, j));
      const T forget = input_forget ? T(1) - in : apply(0, gate(2, j) + peep(2, j));
      c[j] = forget * c[j] + in * apply(1, gate(3, j));
      // Like ONNX Runtime, this does not clip the cell; the operator's specification leaves that open.
      h[j] = apply(0, gate(1, j) + peep(1, j)) * activate(functions[2], c[j]);
    }
  }
};

}  // namespace isomer
