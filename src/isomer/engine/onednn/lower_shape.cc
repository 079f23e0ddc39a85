// Nodes that only move elements: views if the layout allows, copies otherwise.

#include "isomer/engine/onednn/filter_gradient.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/views.h"

namespace isomer::onednn {
namespace {

/// Concatenates operands that are, or are copied, one after the other.
bool join_in_place(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  if (!builder.planned().joins) return false;
  const Location whole = *builder.place_in_concat(node.result());
  const Form form = builder.planned().out;
  size_t offset = whole.offset;
  for (const ValueId operand : graph.operands(node)) {
    const Dims dims = dims_of(graph.type(operand));
    const size_t bytes = static_cast<size_t>(element_count(dims)) * element_size(whole.desc);
    const Location wanted{whole.buffer, offset, form_desc(dims, form, whole.desc.data_type())};
    const Location from = builder.at(operand);
    const bool there = from.buffer == wanted.buffer && from.offset == offset && same_layout(from.desc, wanted.desc);
    if (bytes > 0 && !there) builder.emit_reorder(from, wanted, operand);
    offset += bytes;
  }
  builder.place(node.result(), whole);
  return true;
}

std::vector<Desc> operand_layouts(Builder& builder, const Node& node, bool plain) {
  std::vector<Desc> layouts;
  for (const ValueId operand : builder.graph().operands(node))
    layouts.push_back(plain ? plain_desc(dims_of(builder.graph().type(operand))) : builder.at(operand).desc);
  return layouts;
}

}  // namespace

Result<bool> lower_concat(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  if (!is_dense(graph, node.result())) return false;
  for (const ValueId operand : graph.operands(node))
    if (!is_dense(graph, operand) || builder.boxed(operand)) return false;
  if (join_in_place(builder, group)) return true;
  const int rank = static_cast<int>(dims_of(graph.type(node.result())).size());
  const int axis = static_cast<int>(node.attrs.integer("axis") + (node.attrs.integer("axis") < 0 ? rank : 0));
  const auto describe = [&](bool plain) {
    return attempt([&] {
      return dnnl::concat::primitive_desc(axis, operand_layouts(builder, node, plain), builder.engine(),
                                          scratch_by_user());
    });
  };
  auto desc = describe(builder.planned().in == kPlainForm);
  if (!desc || is_reference(desc->impl_info_str())) desc = describe(true);
  if (!desc) return false;
  std::vector<Argument> arguments;
  const auto operands = graph.operands(node);
  for (size_t i = 0; i < operands.size(); ++i) {
    const int number = static_cast<int>(i);
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + number, builder.as(operands[i], desc->src_desc(number))});
  }
  const Location to = builder.result(node.result(), desc->dst_desc());
  arguments.push_back({DNNL_ARG_DST, to});
  builder.emit("Concat", *desc, arguments, {node.result()});
  builder.place(node.result(), to);
  return true;
}

namespace {

/// The same bytes with other extents; or bytes that nothing reads, in another order.
Result<bool> reshape(Builder& builder, const Node& node) {
  const Graph& graph = builder.graph();
  const ValueId x = graph.operands(node)[0];
  const TensorType& type = graph.type(node.result());
  if (builder.boxed(x) || !type.shape || !concrete(*type.shape)) return false;
  Location location = feeds_filter_gradients(graph, node) ? builder.at(x) : builder.row_major(x);
  if (type.dtype == DType::Float) location.desc = plain_desc(dims_of(type), location.desc.data_type());
  builder.place(node.result(), location);
  return true;
}

Result<bool> transpose(Builder& builder, const Node& node) {
  const ValueId x = builder.graph().operands(node)[0];
  if (!is_dense(builder.graph(), x) || builder.graph().type(x).rank() == 0) return false;
  Location location = builder.at(x);
  if (!is_strided(location.desc) && !feeds_filter_gradients(builder.graph(), node)) location = builder.row_major(x);
  location.desc = permuted(location.desc, node.attrs.ints("perm"));
  builder.place(node.result(), location);
  return true;
}

/// Every step-th element from `starts` on, of a strided value.
Location window(const Location& location, const Dims& dims, const Dims& starts, const Dims& steps) {
  Dims strides = strides_of(location.desc);
  size_t offset = location.offset;
  for (size_t i = 0; i < dims.size(); ++i) {
    offset += static_cast<size_t>(starts[i] * strides[i]) * element_size(location.desc);
    strides[i] *= steps[i];
  }
  return {location.buffer, offset, strided_desc(dims, strides, location.desc.data_type())};
}

/// Whole blocks of channels of a blocked value of one batch.
std::optional<Location> block_window(const Location& location, const Dims& dims, const Dims& starts,
                                     const Dims& steps) {
  const int64_t block = channel_block(location.desc);
  const Dims whole = location.desc.dims();
  if (block == 1 || whole[0] != 1 || starts[1] % block != 0 || dims[1] % block != 0 || steps[1] != 1)
    return std::nullopt;
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != 1 && dims[i] != whole[i]) return std::nullopt;
  const auto before = static_cast<size_t>(starts[1] * element_count(dims) / dims[1]);
  return Location{location.buffer, location.offset + before * element_size(location.desc),
                  channel_blocked_desc(dims, static_cast<int>(block), location.desc.data_type())};
}

Location part(Builder& builder, ValueId x, const Dims& dims, const Dims& starts, const Dims& steps) {
  const Location location = builder.at(x);
  if (is_strided(location.desc)) return window(location, dims, starts, steps);
  if (const auto blocks = block_window(location, dims, starts, steps)) return *blocks;
  return window(builder.row_major(x), dims, starts, steps);
}

Result<bool> split(Builder& builder, const Node& node) {
  const Graph& graph = builder.graph();
  const ValueId x = graph.operands(node)[0];
  if (!is_dense(graph, x)) return false;
  for (uint32_t i = 0; i < node.num_results; ++i)
    if (!is_dense(graph, node.result(i))) return false;
  const size_t rank = dims_of(graph.type(x)).size();
  const int64_t axis = node.attrs.integer("axis");
  const auto along = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  Dims starts(rank, 0);
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const Dims dims = dims_of(graph.type(node.result(i)));
    builder.place(node.result(i), part(builder, x, dims, starts, Dims(rank, 1)));
    starts[along] += dims[along];
  }
  return true;
}

Result<bool> slice(Builder& builder, const Node& node) {
  const Graph& graph = builder.graph();
  const ValueId x = graph.operands(node)[0];
  if (!is_dense(graph, x) || !is_dense(graph, node.result())) return false;
  const Dims whole = dims_of(graph.type(x));
  Dims starts(whole.size(), 0);
  Dims steps(whole.size(), 1);
  const Ints& axes = node.attrs.ints("axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(whole.size()) : axes[i]);
    steps[axis] = node.attrs.ints("steps")[i];
    if (steps[axis] < 1) return false;
    const int64_t start = node.attrs.ints("starts")[i];
    starts[axis] = std::clamp<int64_t>(start < 0 ? start + whole[axis] : start, 0, whole[axis]);
  }
  builder.place(node.result(), part(builder, x, dims_of(graph.type(node.result())), starts, steps));
  return true;
}

Result<bool> picked(Builder& builder, const Node& node) {
  const Graph& graph = builder.graph();
  const ValueId x = graph.operands(node)[0];
  if (!is_dense(graph, x) || !is_dense(graph, node.result())) return false;
  const Dims dims = dims_of(graph.type(node.result()));
  Dims steps = node.attrs.ints("strides");
  steps.insert(steps.begin(), 2, 1);
  builder.place(node.result(), part(builder, x, dims, Dims(dims.size(), 0), steps));
  return true;
}

}  // namespace

Result<bool> lower_view(Builder& builder, const Group& group) {
  const Node& node = builder.graph().node(group.root);
  const std::string& name = node.op->name;
  if (is_removed(node)) {
    builder.place(node.result(), builder.at(builder.graph().operands(node)[0]));
    return true;
  }
  if (name == "Transpose") return transpose(builder, node);
  if (name == "Split") return split(builder, node);
  if (name == "Slice") return slice(builder, node);
  if (picks_elements(node)) {
    const Form form = builder.planned().in;
    const bool copied = builder.planned().out > kPlainForm && !cuts_blocks(builder.graph(), node, form);
    return copied ? lower_pool(builder, group) : picked(builder, node);
  }
  return reshape(builder, node);
}

}  // namespace isomer::onednn
