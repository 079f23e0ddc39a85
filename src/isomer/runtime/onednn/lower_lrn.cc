// Local response normalization across channels.

#include "isomer/runtime/onednn/lower.h"

namespace isomer::onednn {

Result<bool> lower_lrn(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  const int64_t size = node.attrs.integer("size");
  if (!is_dense(graph, x) || size % 2 == 0) return false;  // oneDNN has as many channels on either side
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::lrn_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
                                         layout, size, node.attrs.real("alpha"), node.attrs.real("beta"),
                                         node.attrs.real("bias"));
      return dnnl::lrn_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  // Even oneDNN's slowest is faster than the reference executor's.
  auto desc = describe(builder.at(x).desc);
  if (!desc) desc = describe(plain_desc(dims_of(graph.type(x))));
  if (!desc) return false;
  const Location from = builder.as(x, desc->src_desc());
  const Location to = builder.result(node.result(), desc->dst_desc());
  builder.emit(group_name(graph, group), *desc, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, {node.result()});
  builder.place(node.result(), to);
  return true;
}

}  // namespace isomer::onednn
