// Instance normalization: normalizes every channel of every image by its own mean and variance.

#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {
namespace {

/// Repeats a constant for each image.
Tensor repeated(const Tensor& row, int64_t images) {
  Tensor all = Tensor::zeros(DType::Float, {images * row.element_count()});
  auto to = all.mutable_data<float>().begin();
  for (int64_t i = 0; i < images; ++i) to = std::ranges::copy(row.data<float>(), to).out;
  return all;
}

}  // namespace

/// Lowers it to a batch normalization of one image by its own statistics; the channels of several images count as
/// channels of one.
Result<bool> lower_instance_norm(Builder& builder, const Group& group) {
  using Flags = dnnl::normalization_flags;
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  for (const ValueId operand : operands)
    if (!is_dense(graph, operand)) return false;
  const Dims whole = dims_of(graph.type(operands[0]));
  const Tensor* const scale = graph.constant(operands[1]);
  const Tensor* const shift = graph.constant(operands[2]);
  const bool one = whole[0] == 1;
  if (!one && (scale == nullptr || shift == nullptr)) return false;
  // OneDNN's fast kernels need at least two axes after the channels.
  const Dims flat = {1, whole[0] * whole[1], element_count(std::span(whole).subspan(2)), 1};
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::batch_normalization_forward::desc what(
          dnnl::prop_kind::forward_inference, layout, node.attrs.real("epsilon"), Flags::use_scale | Flags::use_shift);
      return dnnl::batch_normalization_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  const ElementType type = builder.at(operands[0]).desc.data_type();
  auto desc = one ? describe(form_desc(whole, builder.planned().in, type)) : std::nullopt;
  if (!desc || is_reference(desc->impl_info_str())) desc = describe(plain_desc(flat));
  if (!desc) return false;
  const bool flattened = desc->src_desc().dims() != whole;
  const Location from = flattened ? builder.plain(operands[0]) : builder.as(operands[0], desc->src_desc());
  const Location to = builder.result(node.result(), from.desc, from);
  const auto factor = [&](ValueId value) {
    return one ? builder.plain(value) : builder.constant(repeated(*graph.constant(value), whole[0]));
  };
  builder.emit(group_name(graph, group), *desc,
               {{DNNL_ARG_SRC, {from.buffer, from.offset, desc->src_desc()}},
                {DNNL_ARG_SCALE, factor(operands[1])},
                {DNNL_ARG_SHIFT, factor(operands[2])},
                {DNNL_ARG_DST, {to.buffer, to.offset, desc->dst_desc()}}},
               {node.result()});
  builder.place(node.result(), to);
  return true;
}

}  // namespace isomer::onednn
