#include "isomer/engine/onednn/lstm.h"

#include <algorithm>

#include "isomer/engine/onednn/row_kernel.h"
#include "isomer/engine/onednn/row_product.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vector_functions.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kGates = 4;
static_assert(kGates == kPanelVectors, "a panel has all gates of some units");

int64_t units_of_panel() { return panel_columns() / kGates; }
int64_t panels_of(const Lstm& lstm) { return (lstm.hidden + units_of_panel() - 1) / units_of_panel(); }

/// The product of the input of all steps by the weights of one direction.
RowProduct input_product(const Lstm& lstm) {
  return {lstm.steps * lstm.batch, lstm.input, panels_of(lstm) * panel_columns()};
}

/// One step of one direction.
struct Step {
  const float* sums = nullptr;  ///< of the gates, by sequence: of the input and the bias
  const float* weights = nullptr;
  const float* h = nullptr;  ///< [batch, hidden], likewise the other states
  const float* c = nullptr;
  float* new_h = nullptr;
  float* new_c = nullptr;  ///< may be `c`
  /// From the last panel to the first: the second level of cache still has the last ones of the step before.
  bool backward = false;
};

/// Computes the states of the units of some panels.
struct AdvanceUnits {
  template <class Vector>
  static ISOMER_INLINE void run(const Lstm& lstm, const Step& step, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = step.backward ? begin + end - 1 - i : i;
      by_rows<Vector>(
          lstm.batch, [&]<int kRows>(int64_t row)
                          __attribute__((always_inline)) { advance<Vector, kRows>(lstm, step, panel, row); });
    }
  }

  template <class Vector, int kRows>
  static ISOMER_INLINE void advance(const Lstm& lstm, const Step& step, int64_t panel, int64_t row) {
    constexpr int64_t kUnits = kLanes<Vector>, kWidth = kGates * kUnits;
    const int64_t hidden = lstm.hidden, all = panels_of(lstm) * kWidth;
    Vector gates[kRows][kGates];
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t g = 0; g < kGates; ++g) load(gates[r][g], step.sums + (row + r) * all + panel * kWidth + g * kUnits);
    add_products(step.h + row * hidden, hidden, step.weights + panel * hidden * kWidth, gates);
    const int64_t first = panel * kUnits, units = std::min(kUnits, hidden - first);
    for (int64_t r = 0; r < kRows; ++r) {
      const int64_t at = (row + r) * hidden + first;
      if (units == kUnits)
        finish(gates[r], step, at);
      else
        finish_some(gates[r], step, at, units);
    }
  }

  template <class Vector>
  static ISOMER_INLINE void finish(Vector (&gates)[kGates], const Step& step, int64_t at) {
    auto& [input, output, forget, cell] = gates;
    sigmoid(input);
    sigmoid(output);
    sigmoid(forget);
    hyperbolic_tangent(cell);
    Vector c;
    load(c, step.c + at);
    c = forget * c + input * cell;
    store(step.new_c + at, c);
    hyperbolic_tangent(c);
    store(step.new_h + at, Vector(output * c));
  }

  /// Finishes the first units of a panel.
  template <class Vector>
  static ISOMER_INLINE void finish_some(const Vector (&gates)[kGates], const Step& step, int64_t at, int64_t units) {
    float elements[kGates][kLanes<Vector>];
    for (int64_t g = 0; g < kGates; ++g) store(elements[g], gates[g]);
    for (int64_t i = 0; i < units; ++i) {
      VectorOf<sizeof(float)>::Type one[kGates];
      for (int64_t g = 0; g < kGates; ++g) load(one[g], elements[g] + i);
      finish(one, step, at + i);
    }
  }
};

void run_direction(const Lstm& lstm, const LstmArguments& arguments, int64_t direction) {
  const RowProduct product = input_product(lstm);
  const int64_t state = lstm.batch * lstm.hidden;
  float* const sums = arguments.scratch;
  float* const c = sums + product.rows * product.columns;
  float* const zeros = c + state;
  std::fill_n(zeros, state, 0.0F);
  run_row_product(product,
                  {.a = arguments.x,
                   .weights = arguments.input_weights + direction * packed_weights(product),
                   .bias = arguments.bias + direction * product.columns,
                   .result = sums},
                  {});
  const auto initial = [&](const float* given) { return given == nullptr ? zeros : given + direction * state; };
  Step step{.weights = arguments.state_weights + direction * lstm.hidden * product.columns,
            .h = initial(arguments.initial_h),
            .c = initial(arguments.initial_c),
            .new_c = c};
  const bool backward = lstm.reverse || direction == 1;
  for (int64_t i = 0; i < lstm.steps; ++i) {
    const int64_t t = backward ? lstm.steps - 1 - i : i;
    step.sums = sums + t * lstm.batch * product.columns;
    step.backward = i % 2 == 1;
    step.new_h = arguments.y + (t * lstm.directions + direction) * state;
    parallel_for(panels_of(lstm), 1,
                 [&](int64_t begin, int64_t end) { dispatch<AdvanceUnits>(lstm, step, begin, end); });
    step.h = step.new_h;
    step.c = c;
  }
  if (arguments.last_h != nullptr) std::copy_n(step.h, state, arguments.last_h + direction * state);
  if (arguments.last_c != nullptr) std::copy_n(step.c, state, arguments.last_c + direction * state);
}

}  // namespace

int64_t packed_gates(const Lstm& lstm, int64_t columns) {
  return lstm.directions * columns * panels_of(lstm) * panel_columns();
}

void pack_gates(const Lstm& lstm, int64_t columns, const float* from, float* to) {
  const int64_t units = units_of_panel();
  for (int64_t direction = 0; direction < lstm.directions; ++direction, from += kGates * lstm.hidden * columns)
    for (int64_t panel = 0; panel < panels_of(lstm); ++panel)
      for (int64_t k = 0; k < columns; ++k)
        for (int64_t gate = 0; gate < kGates; ++gate)
          for (int64_t unit = panel * units; unit < (panel + 1) * units; ++unit)
            *to++ = unit < lstm.hidden ? from[(gate * lstm.hidden + unit) * columns + k] : 0;
}

int64_t lstm_scratch(const Lstm& lstm) {
  const RowProduct product = input_product(lstm);
  return product.rows * product.columns + 2 * lstm.batch * lstm.hidden;
}

void run_lstm(const Lstm& lstm, const LstmArguments& arguments) {
  for (int64_t direction = 0; direction < lstm.directions; ++direction) run_direction(lstm, arguments, direction);
}

}  // namespace isomer::onednn
