// Normalizations over channels or the last axis, and softmax.

#include <cmath>

#include "isomer/engine/onednn/channelwise.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"

namespace isomer::onednn {
namespace {

using Flags = dnnl::normalization_flags;

/// Stacks scale above shift, as oneDNN requires.
Tensor stacked(const Tensor& scale, const Tensor& shift) {
  const int64_t count = scale.element_count();
  Tensor both = Tensor::zeros(DType::Float, {2, count});
  const auto to = both.mutable_data<float>();
  std::copy_n(scale.data<float>().begin(), count, to.begin());
  std::copy_n(shift.data<float>().begin(), count, to.begin() + count);
  return both;
}

/// Returns scales, then shifts, of all channels; 0 beyond the last one.
std::vector<float> channel_factors(const ChannelLayout& layout, const Tensor* const parts[4], double epsilon) {
  const auto channels = static_cast<size_t>(layout.groups_per_image * layout.width);
  std::vector<float> factors(2 * channels, 0);
  for (size_t c = 0; c < parts[0]->data<float>().size(); ++c) {
    const double scale = parts[0]->data<float>()[c] / std::sqrt(parts[3]->data<float>()[c] + epsilon);
    factors[c] = static_cast<float>(scale);
    factors[channels + c] = static_cast<float>(parts[1]->data<float>()[c] - parts[2]->data<float>()[c] * scale);
  }
  return factors;
}

void emit_channel_map(Builder& builder, const Group& group, const ChannelLayout& layout, std::vector<float> factors,
                      const Location& from) {
  const ValueId result = builder.graph().node(group.last()).result();
  const Location to = builder.result(result, from.desc, from);
  ChannelMap map{.layout = layout};
  if (!group.posts.empty()) map.low = 0;
  emit_own(builder, {.name = group_name(builder.graph(), group),
                     .from = {from},
                     .to = to,
                     .result = result,
                     .run = [map, factors = std::move(factors), from, to](Workspace& workspace) -> Status {
                       ChannelMap whole = map;
                       whole.scale = factors.data();
                       whole.shift = factors.data() + factors.size() / 2;
                       apply(whole, elements_at(workspace, from), mutable_elements_at(workspace, to));
                       return {};
                     }});
}

Result<bool> lower_batch_norm(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const Tensor* parts[4];
  for (size_t i = 0; i < 4; ++i) {
    parts[i] = graph.constant(operands[i + 1]);
    if (parts[i] == nullptr || parts[i]->dtype() != DType::Float) return false;
  }
  if (!is_dense(graph, operands[0]) || dims_of(graph.type(operands[0])).size() < 2) return false;
  const auto by_channel = [&](const Location& from) {
    const auto layout = channel_layout(from.desc);
    if (layout)
      emit_channel_map(builder, group, *layout, channel_factors(*layout, parts, node.attrs.real("epsilon")), from);
    return layout.has_value();
  };
  const Desc lies = builder.at(operands[0]).desc;
  const Desc planned = form_desc(lies.dims(), builder.planned().in, lies.data_type());
  if (by_channel(builder.as(operands[0], planned))) return true;
  Flags flags = Flags::use_global_stats | Flags::use_scale_shift;
  if (!group.posts.empty()) flags = flags | Flags::fuse_norm_relu;
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::batch_normalization_forward::desc what(dnnl::prop_kind::forward_inference, layout,
                                                         node.attrs.real("epsilon"), flags);
      return dnnl::batch_normalization_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  const auto desc = describe(planned);
  if (!desc || is_reference(desc->impl_info_str())) return by_channel(builder.plain(operands[0]));
  const ValueId result = graph.node(group.last()).result();
  const Location from = builder.as(operands[0], desc->src_desc());
  const Location to = builder.result(result, desc->dst_desc(), from);
  builder.emit(group_name(graph, group), *desc,
               {{DNNL_ARG_SRC, from},
                {DNNL_ARG_SCALE_SHIFT, builder.constant(stacked(*parts[0], *parts[1]))},
                {DNNL_ARG_MEAN, builder.constant(*parts[2])},
                {DNNL_ARG_VARIANCE, builder.constant(*parts[3])},
                {DNNL_ARG_DST, to}},
               {result});
  builder.place(result, to);
  return true;
}

Result<bool> lower_layer_norm(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  if (node.num_results != 1 || !is_dense(graph, operands[0])) return false;
  const Dims whole = dims_of(graph.type(operands[0]));
  const auto axis = static_cast<size_t>(node.attrs.integer("axis") +
                                        (node.attrs.integer("axis") < 0 ? static_cast<int64_t>(whole.size()) : 0));
  const int64_t inner = element_count(std::span(whole).subspan(axis));
  const bool shifts = operands.size() > 2 && operands[2] != kNoValue;
  for (size_t i = 1; i < (shifts ? 3U : 2U); ++i)
    if (!is_dense(graph, operands[i]) || element_count(dims_of(graph.type(operands[i]))) != inner) return false;
  const Flags flags = shifts ? Flags::use_scale | Flags::use_shift : Flags::use_scale;
  const auto describe = [&](ElementType type) {
    return attempt([&] {
      const dnnl::layer_normalization_forward::desc what(dnnl::prop_kind::forward_inference,
                                                         plain_desc({element_count(whole) / inner, inner}, type),
                                                         node.attrs.real("epsilon"), flags);
      return dnnl::layer_normalization_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  ElementType type = builder.at(operands[0]).desc.data_type();
  auto desc = describe(type);
  if (type != kF32 && (!desc || is_reference(desc->impl_info_str()))) desc = describe(type = kF32);
  if (!desc || is_reference(desc->impl_info_str())) return false;
  const Desc layout = desc->src_desc();
  const Location from = builder.as(operands[0], plain_desc(whole, type));
  const Location to = builder.result(node.result(), from.desc, from);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, {from.buffer, from.offset, layout}},
                                     {DNNL_ARG_SCALE, builder.as(operands[1], plain_desc({inner}))},
                                     {DNNL_ARG_DST, {to.buffer, to.offset, layout}}};
  if (shifts) arguments.push_back({DNNL_ARG_SHIFT, builder.as(operands[2], plain_desc({inner}))});
  builder.emit(group_name(graph, group), *desc, arguments, {node.result()});
  builder.place(node.result(), to);
  return true;
}

Result<bool> lower_softmax(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  if (!is_dense(graph, x) || graph.type(x).rank() == 0) return false;
  const auto how = node.op->name == "Softmax" ? dnnl::algorithm::softmax_accurate : dnnl::algorithm::softmax_log;
  const Dims dims = dims_of(graph.type(x));
  const int64_t axis = node.attrs.integer("axis");
  const int64_t along = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::softmax_v2_forward::desc what(dnnl::prop_kind::forward_inference, how, layout, layout,
                                                static_cast<int>(along));
      return dnnl::softmax_v2_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  const Form form = builder.planned().out;
  const auto layout = [&](ElementType type) {
    // OneDNN requires a stride of 1 even if the axis has extent 1.
    return form > kPlainForm ? form_desc(dims, form, type) : Desc(dims, type, *concrete(builder.planned().strides));
  };
  std::optional<dnnl::softmax_v2_forward::primitive_desc> desc;
  for (const ElementType type : {builder.at(x).desc.data_type(), kF32})
    if (!desc || is_reference(desc->impl_info_str())) desc = describe(layout(type));
  // Processors without AVX2 have no kernel for blocks.
  if ((!desc || is_reference(desc->impl_info_str())) && form > kPlainForm) desc = describe(form_desc(dims, kLastForm));
  if (!desc || is_reference(desc->impl_info_str())) return false;
  const Location from = builder.as(x, desc->src_desc());
  const Location to = builder.result(node.result(), from.desc, from);
  builder.emit(group_name(graph, group), *desc, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, {node.result()});
  builder.place(node.result(), to);
  return true;
}

}  // namespace

Result<bool> lower_norm(Builder& builder, const Group& group) {
  const std::string& name = builder.graph().node(group.root).op->name;
  if (name == "BatchNormalization") return lower_batch_norm(builder, group);
  if (name == "LayerNormalization") return lower_layer_norm(builder, group);
  return lower_softmax(builder, group);
}

}  // namespace isomer::onednn
