// Products and sums with one number per channel.

#include "isomer/engine/onednn/channelwise.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"

namespace isomer::onednn {
namespace {

/// Returns whether `other` has one element per channel of `whole`, for all images together or for each.
bool is_channelwise(const Dims& whole, const Dims& other) {
  if (whole.size() < 3 || other.size() > whole.size()) return false;
  Dims padded = other;
  padded.insert(padded.begin(), whole.size() - other.size(), 1);
  if (padded[1] != whole[1] || (padded[0] != 1 && padded[0] != whole[0])) return false;
  return padded != whole && element_count(padded) == padded[0] * padded[1];
}

/// Takes the bounds of an activation after the arithmetic; returns false if it is another function.
bool take_posts(const Group& group, ChannelMap& map) {
  if (group.posts.empty()) return true;
  const auto& function = group.posts[0].function;
  if (group.posts.size() > 1 || !function) return false;
  if (function->algorithm == dnnl::algorithm::eltwise_relu && function->alpha == 0) {
    map.low = 0;
    return true;
  }
  if (function->algorithm != dnnl::algorithm::eltwise_clip) return false;
  map.low = function->alpha;
  map.high = function->beta;
  return true;
}

}  // namespace

Result<bool> lower_channelwise(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const bool product = node.op->name == "Mul";
  if ((!product && node.op->name != "Add") || !is_dense(graph, operands[0]) || !is_dense(graph, operands[1]))
    return false;
  ValueId whole = operands[0], other = operands[1];
  if (!is_channelwise(dims_of(graph.type(whole)), dims_of(graph.type(other)))) std::swap(whole, other);
  const Dims dims = dims_of(graph.type(whole));
  const Dims other_dims = dims_of(graph.type(other));
  const Location from = builder.at(whole);
  auto layout = is_channelwise(dims, other_dims) ? channel_layout(from.desc) : std::nullopt;
  // There are no numbers for channels that pad a block.
  if (!layout || layout->groups_per_image * layout->width != dims[1]) return false;
  if (element_count(other_dims) > dims[1]) layout->groups_per_image *= dims[0];
  ChannelMap map{.layout = *layout};
  if (!take_posts(group, map)) return false;
  const Location numbers = builder.plain(other);
  const ValueId result = graph.node(group.last()).result();
  const Location to = builder.result(result, from.desc, from);
  std::vector<float> neutral(static_cast<size_t>(layout->groups_per_image * layout->width), product ? 0.0F : 1.0F);
  emit_own(builder, {.name = group_name(graph, group),
                     .from = {from, numbers},
                     .to = to,
                     .result = result,
                     .run = [=, neutral = std::move(neutral)](Workspace& workspace) -> Status {
                       ChannelMap whole_map = map;
                       whole_map.scale = product ? elements_at(workspace, numbers) : neutral.data();
                       whole_map.shift = product ? neutral.data() : elements_at(workspace, numbers);
                       apply(whole_map, elements_at(workspace, from), mutable_elements_at(workspace, to));
                       return {};
                     }});
  return true;
}

}  // namespace isomer::onednn
