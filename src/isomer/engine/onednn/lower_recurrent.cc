// Recurrent layers: RNN, GRU and LSTM.

#include <fmt/format.h>

#include <memory>

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/lstm.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/recurrent_layer.h"

namespace isomer::onednn {
namespace {

/// The memory descriptions that all kinds of cells need.
struct Descs {
  Desc x, h, w, r, bias, y, last_h;
  Desc c = {}, last_c = {};  // of an LSTM
};

Descs describe_memory(const RecurrentLayer& layer, size_t results) {
  const Desc state = plain_desc({1, layer.directions, layer.batch, layer.hidden});
  const bool starts = layer.initial_h != kNoValue || layer.initial_c != kNoValue;
  const bool ends = results > 1;
  const bool remembers = layer.cell == Cell::Lstm;
  return {
      .x = plain_desc({layer.steps, layer.batch, layer.input}),
      .h = starts ? state : Desc(),
      .w = any_desc({1, layer.directions, layer.input, layer.gates(), layer.hidden}),
      .r = any_desc({1, layer.directions, layer.hidden, layer.gates(), layer.hidden}),
      .bias = plain_desc({1, layer.directions, layer.gates() + (layer.bias_apart() ? 1 : 0), layer.hidden}),
      .y = plain_desc({layer.steps, layer.batch, layer.directions * layer.hidden}),
      .last_h = ends ? state : Desc(),
      .c = starts && remembers ? state : Desc(),
      .last_c = ends && remembers ? state : Desc(),
  };
}

/// Emits a primitive with a given description, and the kernels around it.
class Emitter {
 public:
  Emitter(Builder& builder, const Group& group, const RecurrentLayer& layer, const Descs& descs)
      : builder_(builder), group_(group), node_(builder.graph().node(group.root)), layer_(layer), descs_(descs) {}

  template <class PrimitiveDesc>
  void run(const PrimitiveDesc& desc) {
    std::vector<Argument> arguments = {{DNNL_ARG_SRC_LAYER, builder_.as(layer_.x, descs_.x)},
                                       {DNNL_ARG_WEIGHTS_LAYER, weights(*layer_.w, desc.weights_layer_desc())},
                                       {DNNL_ARG_WEIGHTS_ITER, weights(*layer_.r, desc.weights_iter_desc())},
                                       {DNNL_ARG_BIAS, builder_.constant(layer_.one_bias())}};
    if (!descs_.h.is_zero()) arguments.push_back({DNNL_ARG_SRC_ITER, state(layer_.initial_h)});
    if (!descs_.c.is_zero()) arguments.push_back({DNNL_ARG_SRC_ITER_C, state(layer_.initial_c)});
    arguments.push_back({DNNL_ARG_DST_LAYER, steps()});
    if (!descs_.last_h.is_zero()) arguments.push_back({DNNL_ARG_DST_ITER, last_state(1)});
    if (!descs_.last_c.is_zero()) arguments.push_back({DNNL_ARG_DST_ITER_C, last_state(2)});
    std::vector<ValueId> values;
    for (uint32_t i = 0; i < node_.num_results; ++i) values.push_back(node_.result(i));
    builder_.emit(group_name(builder_.graph(), group_), desc, arguments, values);
    for (uint32_t i = 0; i < node_.num_results; ++i) builder_.place(node_.result(i), results_[i]);
  }

 private:
  /// [directions, gates, hidden, columns], with the axes in oneDNN's order.
  Location weights(const Tensor& given, const Desc& to) {
    const int64_t columns = given.dims()[2];
    const int64_t gate = layer_.hidden * columns;
    const Desc from({1, layer_.directions, columns, layer_.gates(), layer_.hidden}, kF32,
                    {layer_.directions * layer_.gates() * gate, layer_.gates() * gate, 1, gate, columns});
    return builder_.constant(layer_.weights(given), from, to);
  }

  Location state(ValueId value) {
    const Location at =
        value == kNoValue ? builder_.constant(Tensor::zeros(DType::Float, extents_of_state())) : builder_.plain(value);
    return {at.buffer, at.offset, descs_.h};
  }

  /// OneDNN interleaves the directions; the operator has them one after the other.
  Location steps() {
    const int64_t row = layer_.directions * layer_.hidden;
    const Desc seen = strided_desc({layer_.steps, layer_.directions, layer_.batch, layer_.hidden},
                                   {layer_.batch * row, layer_.hidden, row, 1});
    results_.push_back(builder_.result(node_.result(), seen));
    return {results_[0].buffer, results_[0].offset, descs_.y};
  }

  Location last_state(uint32_t result) {
    const Desc seen = plain_desc(extents_of_state());
    const bool wanted = result < node_.num_results;
    const Location to = wanted ? builder_.result(node_.result(result), seen) : builder_.room(seen.get_size(), seen);
    if (wanted) results_.push_back(to);
    return {to.buffer, to.offset, descs_.last_h};
  }

  Dims extents_of_state() const { return {layer_.directions, layer_.batch, layer_.hidden}; }

  Builder& builder_;
  const Group& group_;
  const Node node_;
  const RecurrentLayer& layer_;
  const Descs& descs_;
  std::vector<Location> results_;
};

/// Returns the description of a primitive; nothing if oneDNN does not support it.
template <class Primitive, class... Args>
std::optional<typename Primitive::primitive_desc> described(const Builder& builder, const Args&... args) {
  return attempt([&] {
    const typename Primitive::desc what(dnnl::prop_kind::forward_inference, args...);
    return typename Primitive::primitive_desc(what, scratch_by_user(), builder.engine(), true);
  });
}

Lstm own_lstm(const RecurrentLayer& layer) {
  return {layer.steps,  layer.batch,      layer.input,
          layer.hidden, layer.directions, layer.direction == dnnl::rnn_direction::unidirectional_right2left};
}

/// The arguments of a trial of our own kernel.
struct LstmTrial {
  Lstm lstm;
  TrialFloats x, input_weights, state_weights, bias, y, scratch;

  explicit LstmTrial(const Lstm& of)
      : lstm(of),
        x(lstm.steps * lstm.batch * lstm.input),
        input_weights(packed_gates(lstm, lstm.input)),
        state_weights(packed_gates(lstm, lstm.hidden)),
        bias(packed_gates(lstm, 1)),
        y(lstm.steps * lstm.directions * lstm.batch * lstm.hidden),
        scratch(lstm_scratch(lstm)) {}
  void run() const {
    run_lstm(lstm, {.x = x.data(),
                    .input_weights = input_weights.data(),
                    .state_weights = state_weights.data(),
                    .bias = bias.data(),
                    .y = y.data(),
                    .scratch = scratch.data()});
  }
};

/// Returns whether our own kernel is faster than a primitive.
bool is_faster(Builder& builder, const RecurrentLayer& layer, const dnnl::lstm_forward::primitive_desc& desc) {
  const Lstm lstm = own_lstm(layer);
  const std::string key = fmt::format("lstm {} {} {} {} x{}{}", lstm.steps, lstm.batch, lstm.input, lstm.hidden,
                                      lstm.directions, lstm.reverse ? " reverse" : "");
  TuningLimit unlimited;
  const Trial trial = [&] {
    const auto made = std::make_shared<const LstmTrial>(lstm);
    return PreparedTrial{[=] { made->run(); }, {made->input_weights.bytes(), made->state_weights.bytes()}};
  };
  return builder.tuner().time(trial, fmt::format("{} {}:lstm", key, own_implementation()), unlimited) <
         builder.tuner().time(builder.engine(), desc, key, unlimited);
}

/// Returns the sums of both biases of each gate, packed for our own kernel.
Location packed_bias(Builder& builder, const RecurrentLayer& layer, const Lstm& lstm) {
  Tensor packed = Tensor::zeros(DType::Float, {packed_gates(lstm, 1)});
  if (layer.bias != nullptr) {
    const auto given = layer.bias->data<float>();
    const auto of_direction = static_cast<size_t>(layer.gates() * layer.hidden);
    std::vector<float> sums;
    for (size_t i = 0; i < given.size() / 2; ++i) {
      const size_t at = i / of_direction * 2 * of_direction + i % of_direction;
      sums.push_back(given[at] + given[at + of_direction]);
    }
    pack_gates(lstm, 1, sums.data(), packed.mutable_data<float>().data());
  }
  return builder.constant(packed);
}

void lower_lstm(Builder& builder, const Group& group, const RecurrentLayer& layer) {
  const Node node = builder.graph().node(group.root);
  const auto operands = builder.graph().operands(node);
  const Lstm lstm = own_lstm(layer);
  const auto packed = [&](ValueId value, int64_t columns) {
    return builder.converted_constant(
        value, plain_desc({packed_gates(lstm, columns)}),
        [lstm, columns](const float* from, float* to) { pack_gates(lstm, columns, from, to); });
  };
  const Location x = builder.plain(layer.x), bias = packed_bias(builder, layer, lstm);
  const Location input_weights = packed(operands[1], lstm.input), state_weights = packed(operands[2], lstm.hidden);
  std::optional<Location> initial_h, initial_c;
  if (layer.initial_h != kNoValue) initial_h = builder.plain(layer.initial_h);
  if (layer.initial_c != kNoValue) initial_c = builder.plain(layer.initial_c);
  const Location scratch = builder.room(static_cast<size_t>(lstm_scratch(lstm)) * sizeof(float));
  Kernel kernel{
      .name = group_name(builder.graph(), group),
      .implementation = fmt::format("{}:lstm", own_implementation()),
      .touches = {read_of(x), read_of(bias), read_of(input_weights), read_of(state_weights), write_of(scratch)}};
  for (const auto& state : {initial_h, initial_c})
    if (state) kernel.touches.push_back(read_of(*state));
  std::vector<Location> results;
  for (uint32_t i = 0; i < node.num_results; ++i) {
    results.push_back(builder.result(node.result(i), plain_desc(dims_of(builder.graph().type(node.result(i))))));
    kernel.arguments.push_back({i == 0 ? DNNL_ARG_DST : DNNL_ARG_DST_ITER, results[i]});
    kernel.touches.push_back(write_of(results[i]));
    kernel.values.push_back(node.result(i));
  }
  kernel.function = [=](Workspace& workspace) -> Status {
    const auto given = [&](const std::optional<Location>& at) { return at ? elements_at(workspace, *at) : nullptr; };
    const auto wanted = [&](size_t i) {
      return i < results.size() ? mutable_elements_at(workspace, results[i]) : nullptr;
    };
    run_lstm(lstm, {.x = elements_at(workspace, x),
                    .input_weights = elements_at(workspace, input_weights),
                    .state_weights = elements_at(workspace, state_weights),
                    .bias = elements_at(workspace, bias),
                    .initial_h = given(initial_h),
                    .initial_c = given(initial_c),
                    .y = wanted(0),
                    .last_h = wanted(1),
                    .last_c = wanted(2),
                    .scratch = mutable_elements_at(workspace, scratch)});
    return {};
  };
  builder.emit(std::move(kernel));
  for (uint32_t i = 0; i < node.num_results; ++i) builder.place(node.result(i), results[i]);
}

}  // namespace

Result<bool> lower_recurrent(Builder& builder, const Group& group) {
  const Node& node = builder.graph().node(group.root);
  ISOMER_TRY(const auto layer, read_recurrent(builder.graph(), node));
  if (!layer) return false;
  const Descs d = describe_memory(*layer, node.num_results);
  const dnnl::rnn_direction way = layer->direction;
  const auto emit = [&](const auto& desc) {
    if (desc) Emitter(builder, group, *layer, d).run(*desc);
    return desc.has_value();
  };
  if (layer->cell == Cell::Lstm) {
    const auto desc =
        described<dnnl::lstm_forward>(builder, way, d.x, d.h, d.c, d.w, d.r, d.bias, d.y, d.last_h, d.last_c);
    const bool own =
        desc && layer->batch <= kMaxSequences && builder.tuner().measures() && is_faster(builder, *layer, *desc);
    if (!own) return emit(desc);
    lower_lstm(builder, group, *layer);
    return true;
  }
  if (layer->cell == Cell::Rnn)
    return emit(described<dnnl::vanilla_rnn_forward>(builder, layer->activation, way, d.x, d.h, d.w, d.r, d.bias, d.y,
                                                     d.last_h));
  if (layer->linear_before_reset)
    return emit(described<dnnl::lbr_gru_forward>(builder, way, d.x, d.h, d.w, d.r, d.bias, d.y, d.last_h));
  return emit(described<dnnl::gru_forward>(builder, way, d.x, d.h, d.w, d.r, d.bias, d.y, d.last_h));
}

}  // namespace isomer::onednn
