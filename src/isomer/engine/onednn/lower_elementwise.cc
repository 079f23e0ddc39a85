// Element-wise functions and arithmetic between tensors.

#include "isomer/engine/onednn/channelwise.h"
#include "isomer/engine/onednn/functions.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"

namespace isomer::onednn {
namespace {

using dnnl::algorithm;

std::optional<algorithm> binary_algorithm(const std::string& name) {
  if (name == "Add" || name == "Sum") return algorithm::binary_add;
  if (name == "Sub") return algorithm::binary_sub;
  if (name == "Mul") return algorithm::binary_mul;
  if (name == "Div") return algorithm::binary_div;
  if (name == "Max") return algorithm::binary_max;
  if (name == "Min") return algorithm::binary_min;
  return std::nullopt;
}

/// Returns the extents with ones in front, up to a rank.
Dims padded(Dims dims, size_t rank) {
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return dims;
}

/// Emits f of every element; f(0) must be 0, so that the unused channels of blocks stay as they are.
Result<bool> lower_map(Builder& builder, const Node& node, const char* name, void (*f)(const float*, float*, int64_t)) {
  const ValueId x = builder.graph().operands(node)[0];
  if (!is_dense(builder.graph(), x)) return false;
  Location from = builder.at(x);
  if (!is_packed(from.desc) || from.desc.data_type() != kF32) from = builder.plain(x);
  const Location to = builder.result(node.result(), from.desc, from);
  const auto count = static_cast<int64_t>(from.desc.get_size() / sizeof(float));
  emit_own(
      builder,
      {.name = name, .from = {from}, .to = to, .result = node.result(), .run = [=](Workspace& workspace) -> Status {
         f(elements_at(workspace, from), mutable_elements_at(workspace, to), count);
         return {};
       }});
  return true;
}

Result<bool> lower_erf(Builder& builder, const Node& node) { return lower_map(builder, node, "Erf", error_function); }

/// Third powers, by products: oneDNN uses logarithms.
Result<bool> lower_cube(Builder& builder, const Node& node) { return lower_map(builder, node, "Pow", third_powers); }

/// A product, a sum and bounds, the same for all elements.
Result<bool> lower_hard_sigmoid(Builder& builder, const Node& node) {
  const ValueId x = builder.graph().operands(node)[0];
  if (!is_dense(builder.graph(), x)) return false;
  Location from = builder.at(x);
  // The padding of blocks must stay zero.
  const auto elements = static_cast<size_t>(element_count(from.desc.dims())) * sizeof(float);
  if (!is_packed(from.desc) || from.desc.data_type() != kF32 || from.desc.get_size() != elements)
    from = builder.plain(x);
  const Location to = builder.result(node.result(), from.desc, from);
  const ChannelMap map{.layout = {1, 1, element_count(from.desc.dims()), 1}, .low = 0, .high = 1};
  emit_own(builder, {.name = "HardSigmoid",
                     .from = {from},
                     .to = to,
                     .result = node.result(),
                     .run = [=, scale = node.attrs.real("alpha"),
                             shift = node.attrs.real("beta")](Workspace& workspace) -> Status {
                       ChannelMap whole = map;
                       whole.scale = &scale;
                       whole.shift = &shift;
                       apply(whole, elements_at(workspace, from), mutable_elements_at(workspace, to));
                       return {};
                     }});
  return true;
}

}  // namespace

Result<bool> lower_eltwise(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  if (node.op->name == "Erf") return lower_erf(builder, node);
  if (node.op->name == "HardSigmoid") return lower_hard_sigmoid(builder, node);
  const auto unary = unary_of(graph, node);
  if (!unary || !is_dense(graph, unary->operand)) return false;
  const Eltwise& function = unary->function;
  if (function.algorithm == algorithm::eltwise_pow && function.alpha == 1 && function.beta == 3)
    return lower_cube(builder, node);
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::eltwise_forward::desc what(dnnl::prop_kind::forward_inference, unary->function.algorithm, layout,
                                             unary->function.alpha, unary->function.beta);
      return dnnl::eltwise_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  const Desc lies = builder.at(unary->operand).desc;
  auto desc = describe(lies);
  for (const ElementType type : {lies.data_type(), kF32})
    if (!desc || is_reference(desc->impl_info_str())) desc = describe(plain_desc(lies.dims(), type));
  if (!desc || is_reference(desc->impl_info_str())) return false;
  const Location from = builder.as(unary->operand, desc->src_desc());
  const Location to = builder.result(node.result(), from.desc, from);
  builder.emit(group_name(graph, group), *desc, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, {node.result()});
  builder.place(node.result(), to);
  return true;
}

Result<bool> lower_binary(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto how = binary_algorithm(node.op->name);
  const auto operands = graph.operands(node);
  const ValueId result = graph.node(group.last()).result();
  if (!how || operands.size() != 2 || !is_dense(graph, operands[0]) || !is_dense(graph, operands[1])) return false;
  const Dims dims = dims_of(graph.type(result));
  // OneDNN broadcasts only its second operand.
  ValueId whole = operands[0];
  ValueId other = operands[1];
  const bool commutes = *how != algorithm::binary_sub && *how != algorithm::binary_div;
  if (dims_of(graph.type(whole)) != dims) {
    if (!commutes || dims_of(graph.type(other)) != dims) return false;
    std::swap(whole, other);
  }
  const Dims other_dims = padded(dims_of(graph.type(other)), dims.size());
  // An operand with fewer axes must be row-major.
  const bool broadcasts = dims_of(graph.type(other)) != dims;
  // The operand that is in the planned blocks keeps its layout; padded blocks make the sum row-major.
  const auto pads = [&] { return graph.constant(other) == nullptr && has_padding(builder.at(other).desc); };
  if (!broadcasts && commutes && channel_block(builder.at(whole).desc) == 1 &&
      (builder.planned().in > kPlainForm || pads()))
    std::swap(whole, other);
  const auto posts = make_posts(graph, group.posts, dims, Desc(), false);
  if (!posts) return false;
  const auto describe = [&](const Desc& layout, const Desc& second) {
    return attempt([&] {
      const dnnl::binary::desc what(*how, layout, second, layout);
      return dnnl::binary::primitive_desc(what, posts->attr, builder.engine(), true);
    });
  };
  // If blocks are padded, oneDNN 2.6.3 computes wrong elements, at least with vectors of 8. If it computes functions of
  // the result, it also does so in blocks of fewer elements than its vectors have, and writes behind the end.
  const auto fitting = [&](const Desc& desc) {
    const bool small = channel_block(desc) != 1 && channel_block(desc) != native_block();
    return has_padding(desc) || (small && !group.posts.empty()) ? plain_desc(desc.dims(), desc.data_type()) : desc;
  };
  Desc layout = fitting(builder.at(whole).desc);
  // A broadcast operand with as many axes keeps its blocks; one with fewer axes is row-major and gets ones in front.
  const bool keeps = graph.constant(other) == nullptr && dims_of(graph.type(other)).size() == dims.size();
  Desc second = !broadcasts ? layout : keeps ? fitting(builder.at(other).desc) : plain_desc(other_dims);
  auto desc = describe(layout, second);
  for (const ElementType type : {layout.data_type(), kF32}) {
    if (desc && !is_reference(desc->impl_info_str())) break;
    layout = plain_desc(dims, type);
    second = plain_desc(other_dims, type);
    desc = describe(layout, second);
  }
  if (!desc || is_reference(desc->impl_info_str())) return false;
  const Location a = builder.as(whole, layout);
  const Location b = builder.as(other, second);
  const Location to = builder.result(result, layout, a);
  builder.emit(group_name(graph, group), *desc, {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}},
               {result});
  builder.place(result, to);
  return true;
}

}  // namespace isomer::onednn
