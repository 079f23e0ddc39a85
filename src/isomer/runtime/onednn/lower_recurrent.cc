// Recurrent layers: RNN, GRU and LSTM.

#include "isomer/runtime/onednn/lower.h"
#include "isomer/runtime/onednn/recurrent_layer.h"

namespace isomer::onednn {
namespace {

/// What all kinds of cells are described by.
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

/// Emits a primitive that is described already, with everything around it.
template <class PrimitiveDesc>
void emit_layer(Builder& builder, const Group& group, const RecurrentLayer& layer, const PrimitiveDesc& desc,
                const Descs& descs) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto weights = [&](const Tensor& given, const Desc& to) {
    const int64_t columns = given.dims()[2];
    // [directions, gates, hidden, columns], seen as oneDNN counts the axes.
    const int64_t gate = layer.hidden * columns;
    const Desc from({1, layer.directions, columns, layer.gates(), layer.hidden}, kF32,
                    {layer.directions * layer.gates() * gate, layer.gates() * gate, 1, gate, columns});
    return builder.constant(layer.weights(given), from, to);
  };
  std::vector<Argument> arguments = {{DNNL_ARG_SRC_LAYER, builder.as(layer.x, descs.x)},
                                     {DNNL_ARG_WEIGHTS_LAYER, weights(*layer.w, desc.weights_layer_desc())},
                                     {DNNL_ARG_WEIGHTS_ITER, weights(*layer.r, desc.weights_iter_desc())},
                                     {DNNL_ARG_BIAS, builder.constant(layer.one_bias())}};
  const auto state = [&](ValueId value) {
    Location at = value == kNoValue
                      ? builder.constant(Tensor::zeros(DType::Float, {layer.directions, layer.batch, layer.hidden}))
                      : builder.plain(value);
    at.desc = plain_desc({1, layer.directions, layer.batch, layer.hidden});
    return at;
  };
  const bool remembers = layer.cell == Cell::Lstm;
  if (!descs.h.is_zero()) arguments.push_back({DNNL_ARG_SRC_ITER, state(layer.initial_h)});
  if (!descs.c.is_zero()) arguments.push_back({DNNL_ARG_SRC_ITER_C, state(layer.initial_c)});
  // oneDNN puts the directions beside one another, the operator one after the other.
  const int64_t row = layer.directions * layer.hidden;
  std::vector<Location> results = {
      builder.result(node.result(), strided_desc({layer.steps, layer.directions, layer.batch, layer.hidden},
                                                 {layer.batch * row, layer.hidden, row, 1}))};
  arguments.push_back({DNNL_ARG_DST_LAYER, {results[0].buffer, results[0].offset, descs.y}});
  const int kinds[] = {DNNL_ARG_DST_ITER, DNNL_ARG_DST_ITER_C};
  const Dims extents = {layer.directions, layer.batch, layer.hidden};
  for (uint32_t i = 1; i < (descs.last_h.is_zero() ? 1U : remembers ? 3U : 2U); ++i) {
    const Location to = i < node.num_results ? builder.result(node.result(i), plain_desc(extents))
                                             : builder.room(plain_desc(extents).get_size(), plain_desc(extents));
    arguments.push_back({kinds[i - 1], {to.buffer, to.offset, descs.last_h}});
    if (i < node.num_results) results.push_back(to);
  }
  std::vector<ValueId> values;
  for (uint32_t i = 0; i < node.num_results; ++i) values.push_back(node.result(i));
  builder.emit(group_name(graph, group), desc, arguments, values);
  for (uint32_t i = 0; i < node.num_results; ++i) builder.place(node.result(i), results[i]);
}

/// Describes the primitive and emits it; false where oneDNN does not have it.
template <class Primitive, class... Args>
bool lower_as(Builder& builder, const Group& group, const RecurrentLayer& layer, const Descs& descs,
              const Args&... args) {
  const auto desc = attempt([&] {
    const typename Primitive::desc what(dnnl::prop_kind::forward_inference, args...);
    return typename Primitive::primitive_desc(what, scratch_by_user(), builder.engine(), true);
  });
  if (!desc) return false;
  emit_layer(builder, group, layer, *desc, descs);
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
