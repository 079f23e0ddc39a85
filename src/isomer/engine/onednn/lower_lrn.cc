// Local response normalization across channels.

#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {

Result<bool> lower_lrn(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  const int64_t size = node.attrs.integer("size");
  if (!is_dense(graph, x) || size % 2 == 0) return false;  // oneDNN requires as many channels on either side
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::lrn_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
                                         layout, size, node.attrs.real("alpha"), node.attrs.real("beta"),
                                         node.attrs.real("bias"));
      return dnnl::lrn_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  // OneDNN's fast kernels are for two axes after the channels, of which only the number of pixels matters.
  const Dims dims = dims_of(graph.type(x));
  const Dims flat = {dims[0], dims[1], element_count(std::span(dims).subspan(2)), 1};
  auto desc = dims.size() == 4 ? describe(builder.at(x).desc) : std::nullopt;
  if (!desc || is_reference(desc->impl_info_str())) desc = describe(plain_desc(flat));
  if (!desc) return false;
  const bool as_it_lies = desc->src_desc().dims() == dims;
  const Location from = as_it_lies ? builder.as(x, desc->src_desc()) : builder.plain(x);
  const Location to = builder.result(node.result(), from.desc);
  builder.emit(group_name(graph, group), *desc,
               {{DNNL_ARG_SRC, {from.buffer, from.offset, desc->src_desc()}},
                {DNNL_ARG_DST, {to.buffer, to.offset, desc->dst_desc()}}},
               {node.result()});
  builder.place(node.result(), to);
  return true;
}

}  // namespace isomer::onednn
