// Transposed convolutions.

#include "isomer/engine/onednn/lower.h"
#include "isomer/ops/window.h"

namespace isomer::onednn {
namespace {

using DeconvDesc = dnnl::deconvolution_forward::primitive_desc;

/// A transposed convolution in oneDNN's terms.
struct DeconvProblem {
  Dims src, weights, dst;  // weights with output channels first; with several groups, the groups before them
  Desc given;              // the operator's weights under these extents
  Dims strides = {}, dilations = {}, begin = {}, end = {};
  bool bias = false;
};

/// The operator has input channels first, [groups * inputs, outputs, ...]; oneDNN has [groups, outputs, inputs, ...].
void read_weights(const Dims& weights, int64_t groups, DeconvProblem& problem) {
  const int64_t inputs = weights[0] / groups;
  const Dims strides = row_major_strides(weights);
  problem.weights = {weights[1], inputs};
  Dims lies = {strides[1], strides[0]};
  problem.weights.insert(problem.weights.end(), weights.begin() + 2, weights.end());
  lies.insert(lies.end(), strides.begin() + 2, strides.end());
  if (groups > 1) {
    problem.weights.insert(problem.weights.begin(), groups);
    lies.insert(lies.begin(), inputs * strides[0]);
  }
  problem.given = strided_desc(problem.weights, lies);
}

std::optional<DeconvProblem> read_deconv(const Graph& graph, const Node& node) {
  const auto operands = graph.operands(node);
  for (const ValueId operand : operands)
    if (operand != kNoValue && !is_dense(graph, operand)) return std::nullopt;
  if (!is_dense(graph, node.result()) || graph.constant(operands[1]) == nullptr) return std::nullopt;
  DeconvProblem problem{.src = dims_of(graph.type(operands[0])),
                        .weights = {},
                        .dst = dims_of(graph.type(node.result())),
                        .given = {},
                        .bias = operands.size() > 2 && operands[2] != kNoValue};
  if (problem.src.size() > 5) return std::nullopt;
  const Dims weights = dims_of(graph.type(operands[1]));
  const auto window = read_window(node.attrs, Ints(weights.begin() + 2, weights.end()));
  if (!window) return std::nullopt;
  problem.strides = window->strides;
  problem.begin = window->begin;
  const Ints& extra = node.attrs.ints("output_padding");
  for (size_t i = 0; i < window->rank(); ++i) {
    problem.dilations.push_back(window->dilations[i] - 1);
    problem.end.push_back(window->end[i] - extra[i]);
    if (window->begin[i] < 0 || problem.end.back() < 0) return std::nullopt;
  }
  read_weights(weights, node.attrs.integer("group"), problem);
  return problem;
}

std::optional<DeconvDesc> describe(const Builder& builder, const DeconvProblem& p, ElementType type) {
  auto desc = attempt([&] {
    const Desc bias = p.bias ? plain_desc({p.dst[1]}) : Desc();
    const dnnl::deconvolution_forward::desc what(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, any_desc(p.src, type),
        any_desc(p.weights, type), bias, any_desc(p.dst, type), p.strides, p.dilations, p.begin, p.end);
    return DeconvDesc(what, scratch_by_user(), builder.engine(), true);
  });
  if (!desc || is_reference(desc->impl_info_str())) return std::nullopt;
  return desc;
}

}  // namespace

Result<bool> lower_deconv(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto problem = read_deconv(graph, node);
  if (!problem) return false;
  std::optional<DeconvDesc> desc;
  for (const ElementType type : builder.types())
    if (!desc) desc = describe(builder, *problem, type);
  if (!desc) return false;
  const auto operands = graph.operands(node);
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, builder.as(operands[0], desc->src_desc())},
      {DNNL_ARG_WEIGHTS, builder.constant(operands[1], problem->given, desc->weights_desc())}};
  if (problem->bias) arguments.push_back({DNNL_ARG_BIAS, builder.plain(operands[2])});
  const Location to = builder.result(node.result(), desc->dst_desc());
  arguments.push_back({DNNL_ARG_DST, to});
  builder.emit(group_name(graph, group), *desc, arguments, {node.result()});
  builder.place(node.result(), to);
  return true;
}

}  // namespace isomer::onednn
