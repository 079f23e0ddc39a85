#include "isomer/engine/onednn/conv_problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "isomer/ops/window.h"

namespace isomer::onednn {

std::string ConvProblem::key() const {
  return fmt::format("conv {} {} {} s{} d{} p{} {} b{}", fmt::join(src, ","), fmt::join(weights, ","),
                     fmt::join(dst, ","), fmt::join(strides, ","), fmt::join(dilations, ","), fmt::join(begin, ","),
                     fmt::join(end, ","), bias);
}

bool ConvProblem::may_be_winograd() const {
  return src.size() == 4 && weights.size() == 4 && weights[2] == 3 && weights[3] == 3 && strides == Dims{1, 1} &&
         dilations == Dims{0, 0} && src[1] >= 16 && dst[1] >= 16;
}

std::optional<ConvProblem> read_conv(const Graph& graph, const Node& node) {
  const auto operands = graph.operands(node);
  for (const ValueId operand : operands)
    if (operand != kNoValue && !is_dense(graph, operand)) return std::nullopt;
  if (!is_dense(graph, node.result())) return std::nullopt;
  ConvProblem problem{dims_of(graph.type(operands[0])), dims_of(graph.type(operands[1])),
                      dims_of(graph.type(node.result()))};
  if (problem.src.size() < 3 || problem.src.size() > 5) return std::nullopt;
  auto window = read_window(node.attrs, Ints(problem.weights.begin() + 2, problem.weights.end()));
  if (!window) return std::nullopt;
  resolve_pads(*window, {problem.src.data() + 2, problem.src.size() - 2});
  problem.strides = window->strides;
  problem.begin = window->begin;
  problem.end = window->end;
  for (size_t i = 0; i < window->rank(); ++i) {
    if (window->begin[i] < 0 || window->end[i] < 0) return std::nullopt;
    problem.dilations.push_back(window->dilations[i] - 1);
  }
  const int64_t group = node.attrs.integer("group");
  if (group > 1) {
    problem.weights[0] /= group;
    problem.weights.insert(problem.weights.begin(), group);
  }
  problem.bias = operands.size() > 2 && operands[2] != kNoValue;
  return problem;
}

namespace {

/// Returns the layouts to try: oneDNN's choice, a decided layout of the result, and channels in blocks.
std::vector<ConvLayouts> conv_layouts(const ConvProblem& problem, int block, ElementType type, ElementType result_type,
                                      const std::optional<Desc>& decided) {
  std::vector<ConvLayouts> layouts = {{any_desc(problem.src, type), any_desc(problem.dst, result_type)}};
  if (decided) layouts.push_back({any_desc(problem.src, type), *decided});
  if (problem.dst[1] % block != 0) return layouts;
  const Desc dst = channel_blocked_desc(problem.dst, block, result_type);
  const bool src_fits = problem.src[1] % block == 0;
  layouts.push_back({src_fits ? channel_blocked_desc(problem.src, block, type) : any_desc(problem.src, type), dst});
  return layouts;
}

/// Returns whether a window contains only padding.
bool has_empty_windows(const ConvProblem& problem) {
  for (size_t i = 0; i < problem.begin.size(); ++i) {
    const int64_t window =
        (problem.weights[problem.weights.size() - problem.begin.size() + i] - 1) * (problem.dilations[i] + 1) + 1;
    if (problem.begin[i] >= window || problem.end[i] >= window) return true;
  }
  return false;
}

/// Returns whether oneDNN 2.6.3 computes a wrong result because another value is added. Its convolution by matrix
/// products reads wrong elements of that value if channels are innermost, which is the case for a single channel in any
/// layout. Its batched one omits the bias if a window contains only padding.
bool is_wrong(const ConvProblem& problem, const dnnl::convolution_forward::primitive_desc& desc, const PostOps& posts) {
  const std::string_view name(desc.impl_info_str());
  if (name.find("brg") != std::string_view::npos)
    return (posts.summed || !posts.operands.empty()) && has_empty_windows(problem);
  if (name.find("gemm") == std::string_view::npos) return false;
  if (problem.dst[1] > 1 && lies_plain(desc.src_desc())) return false;
  return std::ranges::any_of(posts.operands, [&](const auto& operand) { return operand.layout.dims() == problem.dst; });
}

}  // namespace

std::optional<ConvChoice> conv_candidate(const Graph& graph, const dnnl::engine& engine, const ConvProblem& problem,
                                         std::span<const Post> posts, const ConvLayouts& layouts, bool sum,
                                         dnnl::algorithm how) {
  using ConvDesc = dnnl::convolution_forward::primitive_desc;
  auto made = make_posts(graph, posts, problem.dst, layouts.dst, sum);
  if (!made) return std::nullopt;
  auto desc = attempt([&] {
    const Desc bias = problem.bias ? plain_desc({problem.dst[1]}) : Desc();
    const dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference, how, layouts.src,
                                               any_desc(problem.weights, layouts.src.data_type()), bias, layouts.dst,
                                               problem.strides, problem.dilations, problem.begin, problem.end);
    return ConvDesc(what, made->attr, engine, true);
  });
  // If oneDNN chose the result's layout, it chose that of the added value too.
  if (desc)
    for (auto& operand : made->operands)
      if (operand.layout.data.format_kind == dnnl_format_kind_any) operand.layout = desc->dst_desc();
  if (!desc || is_reference(desc->impl_info_str()) || is_wrong(problem, *desc, *made)) return std::nullopt;
  return ConvChoice{std::move(*desc), std::move(*made), how == dnnl::algorithm::convolution_winograd};
}

bool same_way(const ConvForm& a, const ConvForm& b) {
  return a.src == b.src && a.dst == b.dst && a.winograd == b.winograd && a.sums == b.sums && a.dtype == b.dtype;
}

ConvForm form_of(const ConvChoice& choice) {
  return {form_of(choice.desc.src_desc()), form_of(choice.desc.dst_desc()), choice.winograd,
          choice.posts.summed.has_value(), choice.desc.src_desc().data_type() == kF32 ? DType::Float : DType::BFloat16};
}

ConvChoices conv_choices(const Graph& graph, const Group& group, const Decisions& decisions,
                         const ConvSettings& settings) {
  auto read = read_conv(graph, graph.node(group.root));
  if (!read) return {};
  ConvChoices out{.problem = std::move(*read)};
  ConvProblem& problem = out.problem;
  std::vector<Post> posts;
  for (const Post& post : group.posts) {
    if (is_folded(post)) problem.bias = true;
    if (!is_folded(post)) posts.push_back(post);
  }
  const auto consider = [&](const ConvLayouts& layouts, dnnl::algorithm how) {
    if (auto way = conv_candidate(graph, settings.engine, problem, posts, layouts, true, how))
      out.ways.push_back(std::move(*way));
  };
  const ConvLayouts any = {any_desc(problem.src), any_desc(problem.dst)};
  const auto algorithm = decisions.algorithm(graph.node(group.root).result());
  if (algorithm == Algorithm::Winograd && problem.may_be_winograd())
    consider(any, dnnl::algorithm::convolution_winograd);
  if (!out.ways.empty()) return out;
  const ValueId result = graph.node(group.last()).result();
  const auto layout = decisions.layout(result);
  for (const ElementType type : settings.types) {
    if (!out.ways.empty()) break;
    const ElementType result_type = graph.is_output(result) ? kF32 : type;
    const auto decided = layout ? layout_of(problem.dst, *layout, native_block(), result_type) : std::nullopt;
    for (const ConvLayouts& layouts : conv_layouts(problem, native_block(), type, result_type, decided))
      consider(layouts, dnnl::algorithm::convolution_direct);
  }
  const bool trial = settings.try_winograd && !algorithm && problem.may_be_winograd();
  if (trial && !out.ways.empty() && out.ways.front().desc.src_desc().data_type() == kF32)
    consider(any, dnnl::algorithm::convolution_winograd);
  return out;
}

}  // namespace isomer::onednn
