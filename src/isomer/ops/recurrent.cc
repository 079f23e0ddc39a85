// RNN, GRU and LSTM: whole layers over a sequence, in one or two directions.

#include "isomer/ops/recurrent.h"

#include "isomer/ops/elementwise.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/recurrent_gradient.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using enum RecurrentOperands::Operand;

Result<size_t> directions_of(const Attrs& attrs) {
  const std::string& direction = attrs.text("direction");
  if (direction == "forward" || direction == "reverse") return 1;
  if (direction == "bidirectional") return 2;
  return fail("the direction '{}' is not known", direction);
}

/// Fails if operand i is known to have another shape.
Status want_shape(const OpView& view, size_t i, const Shape& shape) {
  if (!view.has(i)) return {};
  bool fits = view.rank(i) == shape.size();
  for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
    const Dim& have = view.shape(i)[axis];
    fits = !have.is_const() || !shape[axis].is_const() || have == shape[axis];
  }
  if (!fits)
    return fail("operand {} of {} is {}, not of shape {}", i, view.op.name, view.type(i).str(), shape_str(shape));
  if (i != kLengths) return same_dtype(view, kX, i);
  if (!is_integer(view.dtype(i))) return fail("the sequence lengths of {} are {}", view.op.name, view.type(i).str());
  return {};
}

Status check_attrs(const OpView& view, Cell cell, size_t directions, const Dim& hidden) {
  ISOMER_CHECK(read_activations(view.attrs, cell, directions));
  const int64_t layout = view.attrs.integer("layout");
  if (layout != 0 && layout != 1) return fail("{} with layout={}", view.op.name, layout);
  if (!view.attrs.has("hidden_size")) return {};
  const int64_t size = view.attrs.integer("hidden_size");
  if (hidden.is_const() && !hidden.is(size))
    return fail("hidden_size of {} is {}, its weights have {}", view.op.name, size, hidden.str());
  return {};
}

template <Cell cell>
Result<std::vector<TensorType>> infer_recurrent(const OpView& view) {
  ISOMER_CHECK(want_real(view, kX));
  for (const size_t i : {kX, kW, kR}) ISOMER_CHECK(want_rank(view, i, 3));
  ISOMER_TRY(const size_t directions, directions_of(view.attrs));
  const Dim d(static_cast<int64_t>(directions));
  const Dim hidden = view.shape(kR)[2];
  const Dim rows = hidden * Dim(gates_of(cell));
  ISOMER_CHECK(check_attrs(view, cell, directions, hidden));
  const bool batch_first = view.attrs.integer("layout") == 1;
  const Dim& steps = view.shape(kX)[batch_first ? 1 : 0];
  const Dim& batch = view.shape(kX)[batch_first ? 0 : 1];
  const Shape state = batch_first ? Shape{batch, d, hidden} : Shape{d, batch, hidden};
  ISOMER_CHECK(want_shape(view, kW, {d, rows, view.shape(kX)[2]}));
  ISOMER_CHECK(want_shape(view, kR, {d, rows, hidden}));
  ISOMER_CHECK(want_shape(view, kBias, {d, rows * Dim(2)}));
  ISOMER_CHECK(want_shape(view, kLengths, {batch}));
  ISOMER_CHECK(want_shape(view, kInitialH, state));
  ISOMER_CHECK(want_shape(view, kInitialC, state));
  ISOMER_CHECK(want_shape(view, kPeephole, {d, hidden * Dim(3)}));
  const DType dtype = view.dtype(kX);
  std::vector<TensorType> types;
  types.emplace_back(dtype, batch_first ? Shape{batch, steps, d, hidden} : Shape{steps, d, batch, hidden});
  while (types.size() < view.num_results) types.emplace_back(dtype, state);
  return types;
}

/// Two operations per weight for each step of each sequence.
double flops_recurrent(const WorkView& view) {
  const auto& x = view.operands[kX];
  return 2 * static_cast<double>(x[0]) * static_cast<double>(x[1]) *
         (count(view.operands[kW]) + count(view.operands[kR]));
}

/// Extents of a layer, and the positions of its rows.
struct Layout {
  size_t steps, batch, input, directions, hidden;
  bool batch_first;

  size_t x_at(size_t step, size_t sequence) const {
    return (batch_first ? sequence * steps + step : step * batch + sequence) * input;
  }
  size_t y_at(size_t step, size_t direction, size_t sequence) const {
    const size_t row = batch_first ? (sequence * steps + step) * directions + direction
                                   : (step * directions + direction) * batch + sequence;
    return row * hidden;
  }
  size_t state_at(size_t direction, size_t sequence) const {
    return (batch_first ? sequence * directions + direction : direction * batch + sequence) * hidden;
  }
};

Layout layout_of(const KernelContext& context) {
  const auto extent = [&](size_t i, size_t axis) { return static_cast<size_t>(context.operands[i].dims()[axis]); };
  const bool batch_first = context.attrs.integer("layout") == 1;
  return {extent(kX, batch_first ? 1 : 0),
          extent(kX, batch_first ? 0 : 1),
          extent(kX, 2),
          extent(kW, 0),
          extent(kR, 2),
          batch_first};
}

template <class T>
const T* data_or_null(const KernelContext& context, size_t i) {
  return context.has(i) ? context.operands[i].data<T>().data() : nullptr;
}

int64_t flag(const Attrs& attrs, std::string_view name) { return attrs.has(name) ? attrs.integer(name) : 0; }

/// The step of one direction, with its part of the weights.
template <class T>
CellStep<T> step_of(const KernelContext& context, const Layout& layout, Cell cell, size_t direction,
                    const std::vector<Activation>& functions, const float* clip) {
  const size_t rows = gates_of(cell) * layout.hidden;
  const T* bias = data_or_null<T>(context, kBias);
  const T* peephole = data_or_null<T>(context, kPeephole);
  return {.input = layout.input,
          .hidden = layout.hidden,
          .gates = gates_of(cell),
          .w = context.operands[kW].data<T>().data() + direction * rows * layout.input,
          .r = context.operands[kR].data<T>().data() + direction * rows * layout.hidden,
          .bias = bias == nullptr ? nullptr : bias + direction * 2 * rows,
          .peephole = peephole == nullptr ? nullptr : peephole + direction * 3 * layout.hidden,
          .functions = functions.data() + direction * activations_of(cell),
          .clip = clip,
          .linear_before_reset = flag(context.attrs, "linear_before_reset") != 0,
          .input_forget = flag(context.attrs, "input_forget") != 0};
}

/// The initial state of a sequence: from an operand, or zeros. An empty sequence also ends with zeros, as in ONNX
/// Runtime.
template <class T>
std::vector<T> initial_state(const KernelContext& context, size_t i, size_t at, size_t hidden, size_t length) {
  const T* data = length == 0 ? nullptr : data_or_null<T>(context, i);
  return data == nullptr ? std::vector<T>(hidden, T(0)) : std::vector<T>(data + at, data + at + hidden);
}

/// The number of steps of a sequence, clamped to the available ones.
size_t length_of(const KernelContext& context, const Layout& layout, size_t sequence) {
  if (!context.has(kLengths)) return layout.steps;
  const int64_t length = context.operands[kLengths].data<int64_t>()[sequence];
  return static_cast<size_t>(std::clamp<int64_t>(length, 0, static_cast<int64_t>(layout.steps)));
}

template <Cell cell>
Status recurrent_kernel(KernelContext& context) {
  return for_real(context.operands[kX].dtype(), [&]<class T>() -> Status {
    const Layout layout = layout_of(context);
    ISOMER_TRY(const auto functions, read_activations(context.attrs, cell, layout.directions));
    const float clip = context.attrs.has("clip") ? context.attrs.real("clip") : -1;
    std::vector<std::span<T>> results;
    context.results.reserve(context.types.size());
    for (size_t i = 0; i < context.types.size(); ++i) results.push_back(new_result(context).mutable_data<T>());
    const auto x = context.operands[kX].data<T>();
    for (size_t direction = 0; direction < layout.directions; ++direction) {
      const CellStep<T> step = step_of<T>(context, layout, cell, direction, functions, clip >= 0 ? &clip : nullptr);
      const bool backwards = direction == 1 || context.attrs.text("direction") == "reverse";
      for (size_t sequence = 0; sequence < layout.batch; ++sequence) {
        const size_t state = layout.state_at(direction, sequence);
        const size_t length = length_of(context, layout, sequence);
        std::vector<T> h = initial_state<T>(context, kInitialH, state, layout.hidden, length);
        std::vector<T> c = initial_state<T>(context, kInitialC, state, layout.hidden, length);
        for (size_t i = 0; i < length; ++i) {
          const size_t at = backwards ? length - 1 - i : i;
          step.run(cell, x.data() + layout.x_at(at, sequence), h, c);
          std::copy(h.begin(), h.end(), results[0].begin() + layout.y_at(at, direction, sequence));
        }
        if (results.size() > 1) std::copy(h.begin(), h.end(), results[1].begin() + state);
        if (results.size() > 2) std::copy(c.begin(), c.end(), results[2].begin() + state);
      }
    }
    return {};
  });
}

/// Sets hidden_size, which some engines require, from the weights.
Status recurrent_from_onnx(OnnxForm& form) {
  if (form.attrs.contains("hidden_size")) return {};
  const Shape* r = form_shape(form, kR);
  if (r != nullptr && r->size() == 3 && (*r)[2].is_const()) form.attrs["hidden_size"] = (*r)[2].value();
  return {};
}

std::vector<AttrDef> recurrent_attrs() {
  return {{.name = "activations", .kind = AttrKind::Strings, .optional = true},
          {.name = "activation_alpha", .kind = AttrKind::Floats, .optional = true},
          {.name = "activation_beta", .kind = AttrKind::Floats, .optional = true},
          {.name = "clip", .kind = AttrKind::Float, .optional = true},
          {.name = "direction", .kind = AttrKind::String, .preset = std::string("forward")},
          {.name = "hidden_size", .kind = AttrKind::Int, .optional = true},
          {.name = "layout", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 14}};
}

template <Cell cell>
OpDef recurrent(const std::string& name, const char* own_attr) {
  OpDef def{.name = name,
            .attrs = recurrent_attrs(),
            .min_operands = 3,
            .max_operands = size_t{cell == Cell::Lstm ? 8 : 6},
            .max_results = size_t{cell == Cell::Lstm ? 3 : 2},
            .infer = infer_recurrent<cell>,
            .flops = flops_recurrent,
            .kernel = recurrent_kernel<cell>,
            .gradient = cell == Cell::Rnn   ? rnn_gradient
                        : cell == Cell::Gru ? gru_gradient
                                            : lstm_gradient,
            .since = 7,
            .from_onnx = recurrent_from_onnx};
  if (own_attr != nullptr) def.attrs.push_back({.name = own_attr, .kind = AttrKind::Int, .preset = int64_t{0}});
  return def;
}

}  // namespace

std::vector<OpDef> recurrent_ops() {
  return {recurrent<Cell::Rnn>("RNN", nullptr), recurrent<Cell::Gru>("GRU", "linear_before_reset"),
          recurrent<Cell::Lstm>("LSTM", "input_forget")};
}

}  // namespace isomer
