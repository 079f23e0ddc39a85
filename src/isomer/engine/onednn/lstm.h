#pragma once
// LSTM layers over a few sequences, by a kernel of our own: the time of a step is that of reading the state's weights,
// and oneDNN reads them slowly. All four gates of a unit are made at once, so that its new state follows in registers.

#include <cstdint>

namespace isomer::onednn {

/// An LSTM without peepholes or clipping, with the default functions.
struct Lstm {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0;
  int64_t directions = 1;
  bool reverse = false;  ///< the only direction is from the last step to the first
};

/// The maximum number of sequences for which it may be faster than a kernel that is made for arithmetic.
inline constexpr int64_t kMaxSequences = 8;

/// Returns the number of floats of the packed weights of `columns` inputs or units, of all directions.
int64_t packed_gates(const Lstm& lstm, int64_t columns);
/// Packs row-major weights [directions, 4 hidden, columns], with the gates in the order of ONNX: input, output, forget,
/// cell.
void pack_gates(const Lstm& lstm, int64_t columns, const float* from, float* to);

/// Returns the number of floats of scratch memory.
int64_t lstm_scratch(const Lstm& lstm);

struct LstmArguments {
  const float* x = nullptr;              ///< [steps, batch, input]
  const float* input_weights = nullptr;  ///< packed
  const float* state_weights = nullptr;  ///< packed
  const float* bias = nullptr;           ///< packed like weights of one column: the sums of both biases
  const float* initial_h = nullptr;      ///< [directions, batch, hidden]; nullptr: zeros
  const float* initial_c = nullptr;
  float* y = nullptr;       ///< [steps, directions, batch, hidden]
  float* last_h = nullptr;  ///< [directions, batch, hidden]; nullptr: not wanted
  float* last_c = nullptr;
  float* scratch = nullptr;
};
/// Computes a layer with the current number of threads. Their number changes no bit of the result.
void run_lstm(const Lstm& lstm, const LstmArguments& arguments);

}  // namespace isomer::onednn
