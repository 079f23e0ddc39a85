#include "isomer/engine/onednn/lower.h"

#include "isomer/engine/onednn/kernel_traits.h"
#include "isomer/engine/onednn/loop_nodes.h"
#include "isomer/engine/onednn/loss_gradient.h"
#include "isomer/engine/onednn/max_pool_gradient.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/views.h"
#include "isomer/ops/again.h"
#include "isomer/ops/op_map.h"

namespace isomer::onednn {
namespace {

using LowerFn = Result<bool> (*)(Builder&, const Group&);

/// Emits an element-wise kernel; with posts, only sums and products have one.
Result<bool> lower_elementwise(Builder& builder, const Group& group) {
  if (group.posts.empty()) {
    ISOMER_TRY(const bool done, lower_eltwise(builder, group));
    if (done) return true;
  }
  ISOMER_TRY(const bool channelwise, lower_channelwise(builder, group));
  return channelwise ? channelwise : lower_binary(builder, group);
}

struct Family {
  LowerFn lower;
  KernelTraits traits = {};
};

/// Operators without an entry are tried as element-wise ones without traits.
const OpMap<Family>& families() {
  using enum LayoutUse;
  constexpr KernelTraits kConv{Chosen, Posts::Sums, Blocks::Preferred, false, true};
  constexpr KernelTraits kProduct{Factors, Posts::Sums, Blocks::Indifferent, false, true};
  constexpr KernelTraits kPool{Window, Posts::None, Blocks::Preferred};
  constexpr KernelTraits kPassing{Plain, Posts::None, Blocks::Passed};
  constexpr KernelTraits kNormalization{Operands, Posts::Relu, Blocks::Preferred, false, true};
  constexpr KernelTraits kImageNormalization{OneImage, Posts::None, Blocks::Indifferent, true, true};
  constexpr KernelTraits kOnePiece{.one_piece = true};
  constexpr KernelTraits kReduction{.layouts = Reduction, .one_piece = true};
  constexpr KernelTraits kSoftmax{.layouts = AlongAxis, .one_piece = true};
  constexpr KernelTraits kSum{Operands, Posts::Functions, Blocks::Passed, true};
  constexpr KernelTraits kDifference{FirstOfAll, Posts::Functions, Blocks::Indifferent, true};
  constexpr KernelTraits kArithmetic{Operands, Posts::None, Blocks::Indifferent, true};
  static const OpMap<Family> kFamilies = {
      {"Conv", {lower_conv, kConv}},
      {"ConvTranspose", {lower_conv, {Chosen, Posts::None, Blocks::Preferred, false, true}}},
      {"MatMul", {lower_matmul, kProduct}},
      {"Gemm", {lower_matmul, kProduct}},
      {"MaxPool", {lower_pool, kPool}},
      {"AveragePool", {lower_pool, kPool}},
      {"GlobalAveragePool", {lower_pool, kPool}},
      {"GlobalMaxPool", {lower_pool, kPool}},
      {"BatchNormalization", {lower_norm, kNormalization}},
      {"LayerNormalization", {lower_norm, kOnePiece}},
      {"InstanceNormalization", {lower_instance_norm, kImageNormalization}},
      {"LRN", {lower_lrn, {Window, Posts::None, Blocks::Indifferent, true}}},
      {"RNN", {lower_recurrent}},
      {"GRU", {lower_recurrent}},
      {"LSTM", {lower_recurrent}},
      {"PRelu", {lower_prelu, {Operands}}},
      {"Softmax", {lower_norm, kSoftmax}},
      {"LogSoftmax", {lower_norm, kSoftmax}},
      {"ReduceSum", {lower_reduce, kReduction}},
      {"ReduceMean", {lower_reduce, kReduction}},
      {"ReduceMax", {lower_reduce, kReduction}},
      {"ReduceMin", {lower_reduce, kReduction}},
      {"ReduceL1", {lower_reduce, kReduction}},
      {"ReduceL2", {lower_reduce, kReduction}},
      {"ReduceSumSquare", {lower_reduce, kReduction}},
      {"Resize", {lower_resize, {Window}}},
      {"Gather", {lower_gather, kOnePiece}},
      {"ScatterND", {lower_scatter, kOnePiece}},
      {"OneHot", {lower_one_hot, kOnePiece}},
      {"SoftmaxCrossEntropyLoss", {lower_loss, kOnePiece}},
      {"NegativeLogLikelihoodLoss", {lower_loss, kOnePiece}},
      {"Expand", {lower_expand, kOnePiece}},
      {"Pad", {lower_pad, {.layouts = Padding, .one_piece = true}}},
      {"Concat", {lower_concat, {Plain, Posts::None, Blocks::Passed, false, true}}},
      {"Reshape", {lower_view}},
      {"Flatten", {lower_view}},
      {"Squeeze", {lower_view}},
      {"Unsqueeze", {lower_view}},
      {"Transpose", {lower_view}},
      {"Split", {lower_view}},
      {"Slice", {lower_view}},
      {"Relu", {lower_elementwise, kPassing}},
      {"Clip", {lower_elementwise, kPassing}},
      {"Sigmoid", {lower_elementwise, kPassing}},
      {"Erf", {lower_elementwise, {Operands}}},
      {"HardSigmoid", {lower_elementwise, kArithmetic}},
      {"Add", {lower_elementwise, kSum}},
      {"Mul", {lower_elementwise, kSum}},
      {"Sub", {lower_elementwise, kDifference}},
      {"Div", {lower_elementwise, kDifference}},
      {"Sum", {lower_elementwise, kArithmetic}},
      {"Max", {lower_elementwise, kArithmetic}},
      {"Min", {lower_elementwise, kArithmetic}},
  };
  return kFamilies;
}

/// Returns whether a node has an operator of another domain than ONNX's.
bool is_foreign(const Node& node) { return node.is_opaque() || (!node.op->domain.empty() && node.op != &again_op()); }

const Family& family_of(const Node& node) {
  static const Family kOther{lower_elementwise};
  static const Family kView{lower_view};
  if (is_foreign(node)) return kOther;
  if (picks_elements(node) || node.op == &again_op()) return kView;
  const Family* const found = families().find(*node.op);
  return found == nullptr ? kOther : *found;
}

Result<bool> lower_group(Builder& builder, const Group& group) {
  const Node& node = builder.graph().node(group.root);
  if (is_foreign(node) || builder.reads_boxed(group)) return false;
  if (is_max_pool_gradient(builder.graph(), group)) return lower_max_pool_gradient(builder, group);
  if (is_loss_gradient(builder.graph(), group)) return lower_loss_gradient(builder, group);
  if (is_loop(builder.graph(), group)) return lower_loop(builder, group);
  ISOMER_TRY(const bool done, family_of(node).lower(builder, group));
  return done ? done : lower_loop(builder, group);
}

/// Emits the nodes of a group one by one.
Status lower_nodes(Builder& builder, size_t index) {
  const Group& group = builder.planning().groups()[index];
  const std::vector<NodeId> nodes = nodes_of(group);
  for (const NodeId node : nodes) {
    bool done = false;
    if (nodes.size() > 1) {
      builder.start(index, builder.planning().place({node}, index), true);
      ISOMER_TRY(done, lower_group(builder, {node}));
    }
    if (!done) {
      builder.start(index, {}, true);
      ISOMER_CHECK(lower_reference(builder, node));
    }
    builder.report(builder.graph().node(node));
  }
  return {};
}

}  // namespace

const KernelTraits& kernel_traits(const Node& node) { return family_of(node).traits; }

Result<Program> lower(Candidate candidate, std::shared_ptr<Tuner> tuner, const Lowering& how) {
  Builder builder(std::move(candidate), std::move(tuner), how.dtype);
  const auto threads_of = [&](size_t group) {
    return group < how.threads.size() ? how.threads[group] : current_threads();
  };
  for (size_t i = 0; i < builder.planning().groups().size(); ++i) {
    const ThreadScope threads(threads_of(i));
    const Group& group = builder.planning().groups()[i];
    builder.start(i, builder.planning().place(i), false);
    ISOMER_TRY(const bool done, lower_group(builder, group));
    if (!done) ISOMER_CHECK(lower_nodes(builder, i));
    const Node& last = builder.graph().node(group.last());
    builder.report(last);
    for (uint32_t r = 0; r < last.num_results; ++r) builder.convert_as_decided(last.result(r));
  }
  const ThreadScope threads(threads_of(builder.planning().groups().size()));
  std::vector<NodeId> last;
  for (const Group& group : builder.planning().groups()) last.push_back(group.last());
  ISOMER_TRY(Program program, builder.finish(how.draft));
  program.groups = std::move(last);
  return program;
}

}  // namespace isomer::onednn
