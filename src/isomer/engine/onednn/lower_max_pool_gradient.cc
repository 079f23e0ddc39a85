// Gradients of max pools.

#include "isomer/engine/onednn/max_pool_gradient.h"
#include "isomer/engine/onednn/own_kernel.h"

namespace isomer::onednn {

Result<bool> lower_max_pool_gradient(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const auto found = max_pool_gradient(graph, group.root);
  if (!found || !is_dense(graph, found->image) || !is_dense(graph, found->gradient)) return false;
  const Node& pool = graph.node(found->pool);
  const Dims image = dims_of(graph.type(found->image));
  const Dims result = dims_of(graph.type(pool.result(0)));
  auto window = read_window(pool.attrs, pool.attrs.ints("kernel_shape"));
  if (!window) return false;
  resolve_pads(*window, {image.data() + 2, image.size() - 2});
  const auto extents = window3(*window, image, result);
  if (!extents) return false;
  const Form form = builder.planned().in;
  const Location from = builder.as(found->image, form_desc(image, form));
  const Location gradient = builder.as(found->gradient, form_desc(result, form));
  const Location to = builder.result(graph.node(group.root).result(), from.desc);
  // The layouts of an image and of a pool's result differ only in the number of pixels.
  emit_own(builder, {.name = "gradient of MaxPool",
                     .from = {from, gradient},
                     .to = to,
                     .result = graph.node(group.root).result(),
                     .run = [=, w = *extents, layout = *channel_layout(from.desc)](Workspace& workspace) -> Status {
                       run_max_pool_gradient(w, layout, elements_at(workspace, from), elements_at(workspace, gradient),
                                             mutable_elements_at(workspace, to));
                       return {};
                     }});
  return true;
}

}  // namespace isomer::onednn
