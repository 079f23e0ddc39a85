// Recurrent layers: RNN, GRU and LSTM.

#include "isomer/engine/onednn/lower.h"
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

/// Describes the primitive and emits it; returns false if oneDNN does not support it.
template <class Primitive, class... Args>
bool lower_as(Builder& builder, const Group& group, const RecurrentLayer& layer, const Descs& descs,
              const Args&... args) {
  const auto desc = attempt([&] {
    const typename Primitive::desc what(dnnl::prop_kind::forward_inference, args...);
    return typename Primitive::primitive_desc(what, scratch_by_user(), builder.engine(), true);
  });
  if (!desc) return false;
  Emitter(builder, group, layer, descs).run(*desc);
  return true;
}

}  // namespace

Result<bool> lower_recurrent(Builder& builder, const Group& group) {
  const Node& node = builder.graph().node(group.root);
  ISOMER_TRY(const auto layer, read_recurrent(builder.graph(), node));
  if (!layer) return false;
  const Descs d = describe_memory(*layer, node.num_results);
  const dnnl::rnn_direction way = layer->direction;
  if (layer->cell == Cell::Lstm)
    return lower_as<dnnl::lstm_forward>(builder, group, *layer, d, way, d.x, d.h, d.c, d.w, d.r, d.bias, d.y, d.last_h,
                                        d.last_c);
  if (layer->cell == Cell::Rnn)
    return lower_as<dnnl::vanilla_rnn_forward>(builder, group, *layer, d, layer->activation, way, d.x, d.h, d.w, d.r,
                                               d.bias, d.y, d.last_h);
  if (layer->linear_before_reset)
    return lower_as<dnnl::lbr_gru_forward>(builder, group, *layer, d, way, d.x, d.h, d.w, d.r, d.bias, d.y, d.last_h);
  return lower_as<dnnl::gru_forward>(builder, group, *layer, d, way, d.x, d.h, d.w, d.r, d.bias, d.y, d.last_h);
}

}  // namespace isomer::onednn
