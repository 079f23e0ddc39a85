// Pooling, global pooling included.

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/views.h"
#include "isomer/ops/window.h"

namespace isomer::onednn {
namespace {

using dnnl::algorithm;

struct PoolProblem {
  algorithm how;
  Dims strides, kernel, dilations, begin, end;
};

std::optional<PoolProblem> read_pool(const Node& node, const Dims& src, const Dims& dst) {
  const std::string& name = node.op->name;
  const size_t spatial = src.size() - 2;
  if (name.starts_with("Global")) {
    const auto how = name == "GlobalMaxPool" ? algorithm::pooling_max : algorithm::pooling_avg_exclude_padding;
    const Dims whole(src.begin() + 2, src.end());
    return PoolProblem{how, whole, whole, Dims(spatial, 0), Dims(spatial, 0), Dims(spatial, 0)};
  }
  auto window = read_window(node.attrs, node.attrs.ints("kernel_shape"));
  if (!window) return std::nullopt;
  resolve_pads(*window, {src.data() + 2, spatial});
  // The mean of one element keeps infinities and NaN; oneDNN's maximum does not.
  const bool max = name == "MaxPool" && !picks_elements(node);
  const bool include = name == "AveragePool" && node.attrs.integer("count_include_pad") != 0;
  PoolProblem problem{max       ? algorithm::pooling_max
                      : include ? algorithm::pooling_avg_include_padding
                                : algorithm::pooling_avg_exclude_padding,
                      window->strides,
                      window->kernel,
                      {},
                      window->begin,
                      {}};
  for (size_t i = 0; i < spatial; ++i) {
    problem.dilations.push_back(window->dilations[i] - 1);
    // OneDNN requires the exact end of the last window.
    const int64_t end = (dst[i + 2] - 1) * window->strides[i] + window->reach(i) - src[i + 2] - window->begin[i];
    if (window->begin[i] < 0 || (include && end > window->end[i])) return std::nullopt;
    // Windows that end before the last element need no padding; oneDNN expresses this as negative padding.
    problem.end.push_back(end);
  }
  return problem;
}

}  // namespace

Result<bool> lower_pool(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  if (node.num_results != 1 || !is_dense(graph, x) || !is_dense(graph, node.result())) return false;
  const Dims src = dims_of(graph.type(x));
  const Dims dst = dims_of(graph.type(node.result()));
  if (src.size() < 3 || src.size() > 5) return false;
  const auto problem = read_pool(node, src, dst);
  if (!problem) return false;
  const Desc layout = builder.at(x).desc;
  const auto desc = attempt([&] {
    const dnnl::pooling_v2_forward::desc what(dnnl::prop_kind::forward_inference, problem->how, layout,
                                              any_desc(dst, layout.data_type()), problem->strides, problem->kernel,
                                              problem->dilations, problem->begin, problem->end);
    return dnnl::pooling_v2_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
  });
  if (!desc) return false;
  const Location to = builder.result(node.result(), desc->dst_desc());
  builder.emit(group_name(graph, group), *desc, {{DNNL_ARG_SRC, builder.at(x)}, {DNNL_ARG_DST, to}}, {node.result()});
  builder.place(node.result(), to);
  return true;
}

}  // namespace isomer::onednn
