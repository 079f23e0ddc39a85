#include "isomer/engine/onednn/conv_problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/ops/window.h"

namespace isomer::onednn {

std::string ConvProblem::key() const {
  return fmt::format("conv {} {} {} s{} d{} p{} {} b{}", fmt::join(src, ","), fmt::join(weights, ","),
                     fmt::join(dst, ","), fmt::join(strides, ","), fmt::join(dilations, ","), fmt::join(begin, ","),
                     fmt::join(end, ","), bias);
}

std::optional<WinogradConv> ConvProblem::winograd() const {
  const bool suits = src.size() == 4 && weights.size() == 4 && weights[2] == 3 && weights[3] == 3 &&
                     strides == Dims{1, 1} && dilations == Dims{0, 0} && src[1] % native_block() == 0 &&
                     dst[1] % native_block() == 0;
  if (!suits) return std::nullopt;
  return WinogradConv{src[0], src[1], src[2], src[3], dst[1], dst[2], dst[3], begin[0], begin[1]};
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
  problem.constant_weights = graph.is_constant_derived(operands[1]);
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

std::string ConvChoice::implementation() const {
  return winograd ? fmt::format("{}:winograd", own_implementation()) : direct.impl_info_str();
}

std::optional<ConvChoice> direct_conv(const Graph& graph, const dnnl::engine& engine, const ConvProblem& problem,
                                      std::span<const Post> posts, const ConvLayouts& layouts, bool sum) {
  using ConvDesc = dnnl::convolution_forward::primitive_desc;
  auto made = make_posts(graph, posts, problem.dst, layouts.dst, sum);
  if (!made) return std::nullopt;
  auto desc = attempt([&] {
    const Desc bias = problem.bias ? plain_desc({problem.dst[1]}) : Desc();
    const dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                               layouts.src, any_desc(problem.weights, layouts.src.data_type()), bias,
                                               layouts.dst, problem.strides, problem.dilations, problem.begin,
                                               problem.end);
    return ConvDesc(what, made->attr, engine, true);
  });
  // If oneDNN chose the result's layout, it chose that of the added value too.
  if (desc)
    for (auto& operand : made->operands)
      if (operand.layout.data.format_kind == dnnl_format_kind_any) operand.layout = desc->dst_desc();
  if (!desc || is_reference(desc->impl_info_str()) || is_wrong(problem, *desc, *made)) return std::nullopt;
  ConvChoice choice{desc->src_desc(), desc->dst_desc(), std::move(*made)};
  choice.direct = std::move(*desc);
  return choice;
}

std::optional<ConvChoice> winograd_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts) {
  const auto winograd = problem.winograd();
  if (!winograd) return std::nullopt;
  const Desc dst = channel_blocked_desc(problem.dst, native_block());
  auto made = make_posts(graph, posts, problem.dst, dst, false);
  const auto own = made ? own_posts(*made, dst) : std::nullopt;
  if (!own) return std::nullopt;
  ConvChoice choice{channel_blocked_desc(problem.src, native_block()), dst, std::move(*made)};
  choice.winograd = winograd;
  choice.own_posts = *own;
  return choice;
}

namespace {

/// The arguments of a trial of Winograd's algorithm.
struct WinogradTrial {
  WinogradConv conv;
  OwnPosts posts;
  int parts;
  TrialFloats image, weights, bias, result, scratch;

  explicit WinogradTrial(const ConvChoice& choice)
      : conv(*choice.winograd),
        posts(choice.own_posts),
        parts(current_threads()),
        image(element_count(choice.src.dims())),
        weights(winograd_weights(conv)),
        bias(conv.out_channels),
        result(element_count(choice.dst.dims())),
        scratch(winograd_scratch(conv, parts)) {
    for (const auto& operand : choice.posts.operands) posts.locate(static_cast<size_t>(operand.post), result.data());
  }
  void run() const {
    const WinogradArguments arguments{image.data(), weights.data(), bias.data(), result.data(), scratch.data()};
    run_winograd(conv, arguments, posts, parts);
  }
};

}  // namespace

Trial trial_of(const dnnl::engine& engine, const ConvChoice& choice) {
  if (!choice.winograd) return trial_of(engine, choice.direct);
  return [&choice] {
    const auto trial = std::make_shared<const WinogradTrial>(choice);
    return PreparedTrial{[=] { trial->run(); }, {trial->weights.bytes()}};
  };
}

bool same_way(const ConvForm& a, const ConvForm& b) {
  return a.src == b.src && a.dst == b.dst && a.winograd == b.winograd && a.sums == b.sums && a.dtype == b.dtype;
}

ConvForm form_of(const ConvChoice& choice) {
  return {form_of(choice.src), form_of(choice.dst), choice.winograd.has_value(), choice.posts.summed.has_value(),
          choice.src.data_type() == kF32 ? DType::Float : DType::BFloat16};
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
  const auto consider = [&](std::optional<ConvChoice> way) {
    if (way) out.ways.push_back(std::move(*way));
  };
  const auto algorithm = decisions.algorithm(graph.node(group.root).result());
  if (algorithm == Algorithm::Winograd) consider(winograd_conv(graph, problem, posts));
  if (!out.ways.empty()) return out;
  const ValueId result = graph.node(group.last()).result();
  const auto layout = decisions.layout(result);
  for (const ElementType type : settings.types) {
    if (!out.ways.empty()) break;
    const ElementType result_type = graph.is_output(result) ? kF32 : type;
    const auto decided = layout ? layout_of(problem.dst, *layout, native_block(), result_type) : std::nullopt;
    for (const ConvLayouts& layouts : conv_layouts(problem, native_block(), type, result_type, decided))
      consider(direct_conv(graph, settings.engine, problem, posts, layouts, true));
  }
  // Other weights would have to be transformed in each run.
  const bool trial = settings.try_winograd && !algorithm && problem.constant_weights;
  if (trial && !out.ways.empty() && out.ways.front().src.data_type() == kF32)
    consider(winograd_conv(graph, problem, posts));
  return out;
}

}  // namespace isomer::onednn
