// PRelu: a slope per channel, or per element, below zero.

#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {

Result<bool> lower_prelu(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  const ValueId slope = graph.operands(node)[1];
  if (!is_dense(graph, x) || !is_dense(graph, slope)) return false;
  if (unary_of(graph, node)) return lower_eltwise(builder, group);  // a single slope
  const Dims dims = dims_of(graph.type(x));
  Dims slopes = dims_of(graph.type(slope));
  if (slopes.size() > dims.size()) return false;  // a slope of rank 1 for a scalar
  slopes.insert(slopes.begin(), dims.size() - slopes.size(), 1);
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::prelu_forward::desc what(dnnl::prop_kind::forward_inference, layout, any_desc(slopes));
      return dnnl::prelu_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  // Slopes with all extents are converted to other layouts. With one slope per element, oneDNN 2.6.3 writes beyond
  // padded blocks, and computes some elements twice if it overwrites x.
  const bool full = slopes == dims;
  const auto fits = [&](const std::optional<dnnl::prelu_forward::primitive_desc>& prelu) {
    return prelu && !is_reference(prelu->impl_info_str()) && !(full && has_padding(prelu->src_desc())) &&
           (lies_plain(prelu->weights_desc()) || slopes == dims_of(graph.type(slope)));
  };
  auto desc = describe(builder.at(x).desc);
  if (!fits(desc)) desc = describe(plain_desc(dims));
  if (!fits(desc)) return false;
  const Location from = builder.as(x, desc->src_desc());
  const Location weights =
      lies_plain(desc->weights_desc()) ? builder.plain(slope) : builder.as(slope, desc->weights_desc());
  const Location to = builder.result(node.result(), from.desc, full ? std::nullopt : std::optional(from));
  builder.emit(group_name(graph, group), *desc,
               {{DNNL_ARG_SRC, from},
                {DNNL_ARG_WEIGHTS, {weights.buffer, weights.offset, desc->weights_desc()}},
                {DNNL_ARG_DST, to}},
               {node.result()});
  builder.place(node.result(), to);
  return true;
}

}  // namespace isomer::onednn
