#include "isomer/runtime/onednn/lower.h"

#include <map>

namespace isomer::onednn {
namespace {

using LowerFn = Result<bool> (*)(Builder&, const Group&);

const std::map<std::string, LowerFn>& families() {
  static const std::map<std::string, LowerFn> kFamilies = {
      {"Conv", lower_conv},
      {"ConvTranspose", lower_deconv},
      {"MatMul", lower_matmul},
      {"Gemm", lower_matmul},
      {"MaxPool", lower_pool},
      {"AveragePool", lower_pool},
      {"GlobalAveragePool", lower_pool},
      {"GlobalMaxPool", lower_pool},
      {"BatchNormalization", lower_norm},
      {"LayerNormalization", lower_norm},
      {"InstanceNormalization", lower_instance_norm},
      {"LRN", lower_lrn},
      {"RNN", lower_recurrent},
      {"GRU", lower_recurrent},
      {"LSTM", lower_recurrent},
      {"PRelu", lower_prelu},
      {"Softmax", lower_norm},
      {"LogSoftmax", lower_norm},
      {"ReduceSum", lower_reduce},
      {"ReduceMean", lower_reduce},
      {"ReduceMax", lower_reduce},
      {"ReduceMin", lower_reduce},
      {"ReduceL1", lower_reduce},
      {"ReduceL2", lower_reduce},
      {"ReduceSumSquare", lower_reduce},
      {"Resize", lower_resize},
      {"Gather", lower_gather},
      {"Expand", lower_expand},
      {"Pad", lower_pad},
      {"Where", lower_where},
      {"Concat", lower_concat},
      {"Reshape", lower_view},
      {"Flatten", lower_view},
      {"Squeeze", lower_view},
      {"Unsqueeze", lower_view},
      {"Transpose", lower_view},
      {"Split", lower_view},
      {"Slice", lower_view},
  };
  return kFamilies;
}

Result<bool> lower_group(Builder& builder, const Group& group) {
  const Node& node = builder.graph().node(group.root);
  if (node.is_opaque() || !node.op->domain.empty()) return false;
  // What is boxed, oneDNN cannot see.
  for (const ValueId operand : builder.graph().operands(node))
    if (operand != kNoValue && builder.boxed(operand)) return false;
  const auto family = families().find(node.op->name);
  if (family != families().end()) return family->second(builder, group);
  if (group.posts.empty()) {
    ISOMER_TRY(const bool done, lower_eltwise(builder, group));
    if (done) return true;
  }
  ISOMER_TRY(const bool channelwise, lower_channelwise(builder, group));
  return channelwise ? channelwise : lower_binary(builder, group);
}

Status lower_nodes(Builder& builder, size_t index) {
  const Group group = builder.groups()[index];
  std::vector<NodeId> nodes = {group.root};
  for (const Post& post : group.posts) nodes.push_back(post.node);
  for (const NodeId node : nodes) {
    ISOMER_TRY(const bool done, nodes.size() > 1 ? lower_group(builder, {node}) : Result<bool>(false));
    if (!done) ISOMER_CHECK(lower_reference(builder, node));
  }
  return {};
}

}  // namespace

Result<Program> lower(Graph graph, Tuner& tuner, ElementType type) {
  std::vector<Group> groups = fuse(graph);
  Builder builder(std::move(graph), std::move(groups), tuner, type);
  for (size_t i = 0; i < builder.groups().size(); ++i) {
    builder.start(i, false);
    ISOMER_TRY(const bool done, lower_group(builder, builder.groups()[i]));
    if (done) continue;
    builder.start(i, true);
    ISOMER_CHECK(lower_nodes(builder, i));
  }
  return builder.finish();
}

}  // namespace isomer::onednn
