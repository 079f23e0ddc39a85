#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {

std::string group_name(const Graph& graph, const Group& group) {
  const auto title = [&](NodeId id) {
    const Node& node = graph.node(id);
    return node.is_opaque() ? node.attrs.text("@op_type") : node.op->name;
  };
  std::string name;
  for (const NodeId inner : group.inner) name += title(inner) + "+";
  name += title(group.root);
  for (const Post& post : group.posts) name += "+" + title(post.node);
  return name;
}

bool is_dense(const Graph& graph, ValueId value) {
  return value != kNoValue && is_plannable(graph, value) && element_count(dims_of(graph.type(value))) > 0;
}

bool is_reference(const char* implementation) {
  const std::string_view name(implementation);
  return name.starts_with("ref") || name.find(":ref") != std::string_view::npos ||
         name.find("_ref:") != std::string_view::npos;
}

namespace {

/// Returns extents under which an operand can be broadcast to `dims`, which the primitive sees instead of `full`.
std::optional<Dims> broadcast_dims(const Dims& other, const Dims& full, const Dims& dims) {
  if (other == full) return dims;
  Dims seen(dims.size(), 1);
  if (dims.size() == full.size()) {
    if (other.size() > dims.size()) return std::nullopt;
    std::copy(other.begin(), other.end(), seen.end() - static_cast<ptrdiff_t>(other.size()));
    return seen;
  }
  // Leading axes are joined, so only the last may differ from 1.
  if (element_count(other) != other.back()) return std::nullopt;
  seen.back() = other.back();
  return seen;
}

}  // namespace

std::optional<PostOps> make_posts(const Graph& graph, std::span<const Post> posts, const Dims& dims, const Desc& layout,
                                  bool sum) {
  PostOps out;
  dnnl::post_ops ops;
  for (size_t i = 0; i < posts.size(); ++i) {
    const Post& post = posts[i];
    if (post.function) {
      ops.append_eltwise(1, post.function->algorithm, post.function->alpha, post.function->beta);
      out.key += fmt::format(" {}", static_cast<int>(post.function->algorithm));
      continue;
    }
    const Dims full = dims_of(graph.type(graph.node(post.node).result()));
    const Dims other = dims_of(graph.type(post.added));
    const auto seen = broadcast_dims(other, full, dims);
    if (!seen) return std::nullopt;
    if (sum && !out.summed && other == full && post.scale == 1 && !graph.is_constant_derived(post.added)) {
      ops.append_sum();
      out.summed = post.added;
      out.key += " sum";
      continue;
    }
    // Only row-major values can be read with other extents.
    Desc desc = other == full ? layout : plain_desc(*seen);
    if (post.scale != 1) desc = retyped(desc, kF32);
    ops.append_binary(dnnl::algorithm::binary_add, desc);
    out.operands.push_back({static_cast<int>(i), post.added, desc, post.scale});
    out.key += fmt::format(" add {}{}", fmt::join(*seen, ","), post.scale == 1 ? "" : " scaled");
  }
  out.attr.set_post_ops(ops);
  out.attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return out;
}

std::optional<OwnPosts> own_posts(const PostOps& posts, const Desc& layout) {
  using Kind = OwnPost::Kind;
  const auto lies_so = [&](const PostOps::Operand& operand) { return same_layout(operand.layout, layout); };
  if (!std::ranges::all_of(posts.operands, lies_so)) return std::nullopt;
  OwnPosts out;
  const dnnl::post_ops ops = posts.attr.get_post_ops();
  for (int i = 0; i < ops.len(); ++i) {
    OwnPost post;
    if (ops.kind(i) == dnnl::primitive::kind::eltwise) {
      float scale = 0, alpha = 0, beta = 0;
      dnnl::algorithm function{};
      ops.get_params_eltwise(i, scale, function, alpha, beta);
      if (function == dnnl::algorithm::eltwise_relu)
        post = {.kind = Kind::Bounds, .high = std::numeric_limits<float>::infinity(), .slope = alpha};
      else if (function == dnnl::algorithm::eltwise_clip)
        post = {.kind = Kind::Bounds, .low = alpha, .high = beta};
      else if (function == dnnl::algorithm::eltwise_logistic)
        post = {.kind = Kind::Sigmoid, .slope = 1};
      else if (function == dnnl::algorithm::eltwise_swish)
        post = {.kind = Kind::Swish, .slope = alpha};
      else if (function == dnnl::algorithm::eltwise_tanh)
        post = {.kind = Kind::Tanh};
      else if (function == dnnl::algorithm::eltwise_linear)
        post = {.kind = Kind::Linear, .slope = alpha, .shift = beta};
      else if (function == dnnl::algorithm::eltwise_gelu_erf)
        post = {.kind = Kind::Gelu};
      else if (function == dnnl::algorithm::eltwise_gelu_tanh)
        post = {.kind = Kind::TanhGelu};
      else
        return std::nullopt;
    } else if (ops.kind(i) != dnnl::primitive::kind::binary) {
      return std::nullopt;
    }
    if (!out.add(post)) return std::nullopt;
  }
  for (const auto& operand : posts.operands) out.scale(static_cast<size_t>(operand.post), operand.scale);
  return out;
}

dnnl::primitive_desc_base scaling_of(const dnnl::engine& engine, const PostOps::Operand& operand) {
  const dnnl::eltwise_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_linear,
                                         operand.layout, operand.scale);
  return dnnl::eltwise_forward::primitive_desc(what, scratch_by_user(), engine);
}

namespace {

/// Emits a kernel that scales a value; returns where its result is.
Location scaled(Builder& builder, const PostOps::Operand& operand) {
  const Location from = builder.as(operand.value, operand.layout);
  const Location to = builder.room(operand.layout.get_size(), operand.layout);
  builder.emit("scale", scaling_of(builder.engine(), operand), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, {});
  return to;
}

}  // namespace

void add_post_arguments(Builder& builder, const PostOps& posts, std::vector<Argument>& arguments) {
  for (const auto& operand : posts.operands) {
    arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(operand.post) | DNNL_ARG_SRC_1,
                         operand.scale == 1 ? builder.as(operand.value, operand.layout) : scaled(builder, operand)});
  }
}

Location place_result(Builder& builder, const PostOps& posts, const Desc& layout, std::span<const Argument> arguments,
                      ValueId result) {
  if (!posts.summed) return builder.result(result, layout);
  const Location other = builder.as(*posts.summed, layout);
  const auto shares = [&](const Argument& argument) { return argument.at.buffer == other.buffer; };
  if (builder.may_overwrite(other) && std::ranges::none_of(arguments, shares)) return other;
  const Location own = builder.room(layout.get_size(), layout);
  builder.emit_reorder(other, own, result);
  return own;
}

}  // namespace isomer::onednn
