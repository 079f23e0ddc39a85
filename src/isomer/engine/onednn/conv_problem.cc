#include "isomer/engine/onednn/conv_problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "isomer/engine/onednn/filter_gradient.h"
#include "isomer/engine/onednn/vectors.h"
#include "isomer/ops/window.h"

namespace isomer::onednn {

std::string ConvProblem::key() const {
  const char* const name = pass == ConvPass::Forward      ? "conv"
                           : pass == ConvPass::Transposed ? "transposed conv"
                                                          : "filters of conv";
  return fmt::format("{} {} {} {} s{} d{} p{} {} b{}", name, fmt::join(src, ","), fmt::join(weights, ","),
                     fmt::join(dst, ","), fmt::join(strides, ","), fmt::join(dilations, ","), fmt::join(begin, ","),
                     fmt::join(end, ","), bias);
}

// A transposed convolution's pads are removed from the rows and columns that a window adds on each side.

std::optional<WinogradConv> ConvProblem::winograd() const {
  const bool suits = src.size() == 4 && weights.size() == 4 && weights[2] == 3 && weights[3] == 3 &&
                     strides == Dims{1, 1} && dilations == Dims{0, 0} && src[1] % native_block() == 0 &&
                     dst[1] % native_block() == 0;
  if (!suits) return std::nullopt;
  const bool transposed = pass == ConvPass::Transposed;
  const auto before = [&](size_t axis) { return transposed ? 2 - begin[axis] : begin[axis]; };
  return WinogradConv{src[0], src[1], src[2], src[3], dst[1], dst[2], dst[3], before(0), before(1), transposed};
}

std::optional<DepthwiseConv> ConvProblem::depthwise(bool blocked) const {
  const bool transposed = pass == ConvPass::Transposed;
  const bool suits = pass != ConvPass::Filters && src.size() == 4 && weights.size() == 5 && weights[1] == 1 &&
                     weights[2] == 1 && weights[3] == weights[4] && dilations == Dims{0, 0} &&
                     (strides == Dims{1, 1} || (strides == Dims{2, 2} && !transposed));
  if (!suits || (weights[3] != 3 && weights[3] != 5 && weights[3] != 7)) return std::nullopt;
  if (blocked ? src[1] % native_block() != 0 : src[1] < min_depthwise_channels()) return std::nullopt;
  const auto before = [&](size_t axis) { return transposed ? weights[3] - 1 - begin[axis] : begin[axis]; };
  return DepthwiseConv{src[0],    src[1],    src[2],     src[3],     dst[2],  dst[3],
                       before(0), before(1), weights[3], strides[0], blocked, transposed};
}

std::optional<StrassenProduct> ConvProblem::strassen() const {
  const auto all = [](std::span<const int64_t> numbers, int64_t wanted) {
    return std::ranges::all_of(numbers, [=](int64_t number) { return number == wanted; });
  };
  const bool suits = pass == ConvPass::Forward && constant_weights && weights.size() == src.size() &&
                     all(std::span(weights).subspan(2), 1) && all(strides, 1) && all(begin, 0) && all(end, 0);
  if (!suits) return std::nullopt;
  const int64_t pixels = element_count(std::span(src).subspan(2));
  const StrassenProduct product{src[0] * pixels, src[1], dst[1], pixels};
  return is_worth_strassen(product) ? std::optional(product) : std::nullopt;
}

namespace {

/// Takes a window in oneDNN's terms; returns false if it has negative pads. `extra`: elements of a transposed
/// convolution's result after its last window, which only the bias changes.
bool take_window(const Window& window, const Ints& extra, ConvProblem& problem) {
  problem.strides = window.strides;
  problem.begin = window.begin;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t end = window.end[i] - (extra.empty() ? 0 : extra[i]);
    if (window.begin[i] < 0 || end <= -window.strides[i]) return false;
    // Without pads, fewer elements than a stride remain anyway.
    problem.end.push_back(std::max<int64_t>(end, 0));
    problem.dilations.push_back(window.dilations[i] - 1);
  }
  return true;
}

/// Takes the weights, whose first two axes are outputs and inputs of a group, or the other way round if they are
/// transposed. oneDNN has [groups, outputs, inputs, ...].
void take_weights(const Dims& weights, int64_t groups, ConvProblem& problem) {
  const bool transposed = problem.pass == ConvPass::Transposed;
  const Dims strides = row_major_strides(weights);
  problem.weights = weights;
  Dims lies = strides;
  problem.weights[0] /= groups;
  if (transposed) {
    std::swap(problem.weights[0], problem.weights[1]);
    std::swap(lies[0], lies[1]);
  }
  if (groups > 1) {
    problem.weights.insert(problem.weights.begin(), groups);
    lies.insert(lies.begin(), weights[0] / groups * strides[0]);
  }
  problem.given = strided_desc(problem.weights, lies);
}

}  // namespace

std::optional<ConvProblem> read_conv(const Graph& graph, const Node& node) {
  const auto operands = graph.operands(node);
  for (const ValueId operand : operands)
    if (operand != kNoValue && !is_dense(graph, operand)) return std::nullopt;
  if (!is_dense(graph, node.result())) return std::nullopt;
  const bool transposed = node.op->name == "ConvTranspose";
  ConvProblem problem{.pass = transposed ? ConvPass::Transposed : ConvPass::Forward,
                      .src = dims_of(graph.type(operands[0])),
                      .dst = dims_of(graph.type(node.result()))};
  const Dims weights = dims_of(graph.type(operands[1]));
  if (problem.src.size() < 3 || problem.src.size() > 5) return std::nullopt;
  auto window = read_window(node.attrs, Ints(weights.begin() + 2, weights.end()));
  if (!window) return std::nullopt;
  if (!transposed) resolve_pads(*window, {problem.src.data() + 2, problem.src.size() - 2});
  if (!take_window(*window, transposed ? node.attrs.ints("output_padding") : Ints(), problem)) return std::nullopt;
  take_weights(weights, node.attrs.integer("group"), problem);
  problem.bias = operands.size() > 2 && operands[2] != kNoValue;
  problem.constant_weights = graph.is_constant_derived(operands[1]);
  return problem;
}

namespace {

/// Whether the result of the convolution has the extents of its gradient. Otherwise the filters have more elements than
/// those of a convolution of this image.
bool has_forward_extents(const ConvProblem& problem) {
  const size_t rank = problem.begin.size(), groups = problem.weights.size() - problem.src.size();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = (problem.weights[2 + groups + i] - 1) * (problem.dilations[i] + 1) + 1;
    const int64_t room = problem.src[2 + i] + problem.begin[i] + problem.end[i] - reach;
    if (room < 0 || room / problem.strides[i] + 1 != problem.dst[2 + i]) return false;
  }
  return true;
}

}  // namespace

std::optional<ConvProblem> read_filter_gradient(const Graph& graph, const Node& node) {
  const auto found = filter_gradient(graph, node);
  if (!found || !is_dense(graph, found->image) || !is_dense(graph, found->gradient) || !is_dense(graph, node.result()))
    return std::nullopt;
  ConvProblem problem{.pass = ConvPass::Filters,
                      .src = dims_of(graph.type(found->image)),
                      .weights = dims_of(graph.type(node.result())),
                      .dst = dims_of(graph.type(found->gradient))};
  if (problem.src.size() < 3 || problem.src.size() > 5) return std::nullopt;
  std::swap(problem.weights[0], problem.weights[1]);
  if (const int64_t groups = node.attrs.integer("group"); groups > 1) {
    problem.weights[0] /= groups;
    problem.weights.insert(problem.weights.begin(), groups);
  }
  problem.given = plain_desc(problem.weights);
  auto window = read_window(node.attrs, Ints(problem.dst.begin() + 2, problem.dst.end()));
  if (!window) return std::nullopt;
  resolve_pads(*window, {problem.src.data() + 2, problem.src.size() - 2});
  std::swap(window->strides, window->dilations);  // the gradient is the window
  if (!take_window(*window, {}, problem) || !has_forward_extents(problem)) return std::nullopt;
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

/// Returns whether a window contains only padding. One with dilation may begin before and end after the image.
bool has_empty_windows(const ConvProblem& problem) {
  const size_t axes = problem.begin.size();
  for (size_t i = 0; i < axes; ++i) {
    const int64_t extent = problem.src[2 + i], step = problem.dilations[i] + 1;
    const int64_t taps = problem.weights[problem.weights.size() - axes + i];
    for (int64_t o = 0; o < problem.dst[2 + i]; ++o) {
      const int64_t first = o * problem.strides[i] - problem.begin[i];
      const int64_t skipped = first < 0 ? (step - 1 - first) / step : 0;  // taps before the image
      if (skipped >= taps || first + skipped * step >= extent) return true;
    }
  }
  return false;
}

/// Returns whether oneDNN 2.6.3 computes a wrong result because another value is added. Its convolution by matrix
/// products reads wrong elements of that value if channels are innermost, which is the case for a single channel in any
/// layout. Its batched one omits the bias if a window contains only padding.
bool is_wrong(const ConvProblem& problem, const dnnl::primitive_desc_base& desc, const PostOps& posts) {
  if (problem.pass != ConvPass::Forward) return false;
  const std::string_view name(desc.impl_info_str());
  if (name.find("brg") != std::string_view::npos)
    return (posts.summed || !posts.operands.empty()) && has_empty_windows(problem);
  if (name.find("gemm") == std::string_view::npos) return false;
  if (problem.dst[1] > 1 && lies_plain(desc.query_md(dnnl::query::src_md))) return false;
  return std::ranges::any_of(posts.operands, [&](const auto& operand) { return operand.layout.dims() == problem.dst; });
}

using PrimitiveDesc = dnnl::primitive_desc_base;

PrimitiveDesc describe_forward(const dnnl::engine& engine, const ConvProblem& p, const ConvLayouts& layouts,
                               const dnnl::primitive_attr& attr, dnnl::prop_kind kind) {
  const Desc bias = p.bias ? plain_desc({p.dst[1]}) : Desc();
  const dnnl::convolution_forward::desc what(kind, dnnl::algorithm::convolution_direct, layouts.src,
                                             any_desc(p.weights, layouts.src.data_type()), bias, layouts.dst, p.strides,
                                             p.dilations, p.begin, p.end);
  return dnnl::convolution_forward::primitive_desc(what, attr, engine, true);
}

PrimitiveDesc describe_transposed(const dnnl::engine& engine, const ConvProblem& p, const ConvLayouts& layouts,
                                  const dnnl::primitive_attr& attr) {
  const Desc bias = p.bias ? plain_desc({p.dst[1]}) : Desc();
  const dnnl::deconvolution_forward::desc what(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, layouts.src,
      any_desc(p.weights, layouts.src.data_type()), bias, layouts.dst, p.strides, p.dilations, p.begin, p.end);
  return dnnl::deconvolution_forward::primitive_desc(what, attr, engine, true);
}

PrimitiveDesc describe_filters(const dnnl::engine& engine, const ConvProblem& p, const ConvLayouts& layouts,
                               const dnnl::primitive_attr& attr) {
  const PrimitiveDesc hint = describe_forward(engine, p, layouts, attr, dnnl::prop_kind::forward_training);
  if (!hint) return {};
  const dnnl::convolution_backward_weights::desc what(dnnl::algorithm::convolution_direct, layouts.src,
                                                      any_desc(p.weights), layouts.dst, p.strides, p.dilations, p.begin,
                                                      p.end);
  const dnnl::convolution_forward::primitive_desc forward(hint.get());
  return dnnl::convolution_backward_weights::primitive_desc(what, attr, engine, forward, true);
}

PrimitiveDesc describe_pass(const dnnl::engine& engine, const ConvProblem& problem, const ConvLayouts& layouts,
                            const dnnl::primitive_attr& attr) {
  switch (problem.pass) {
    case ConvPass::Transposed:
      return describe_transposed(engine, problem, layouts, attr);
    case ConvPass::Filters:
      return describe_filters(engine, problem, layouts, attr);
    case ConvPass::Forward:
      break;
  }
  return describe_forward(engine, problem, layouts, attr, dnnl::prop_kind::forward_inference);
}

}  // namespace

ConvKernel ConvChoice::kernel() const {
  if (winograd) return ConvKernel::Winograd;
  if (strassen) return ConvKernel::Strassen;
  return depthwise ? ConvKernel::Depthwise : ConvKernel::Library;
}

std::string ConvChoice::implementation() const {
  switch (kernel()) {
    case ConvKernel::Winograd:
      return fmt::format("{}:winograd", own_implementation());
    case ConvKernel::Depthwise:
      return fmt::format("{}:depthwise", own_implementation());
    case ConvKernel::Strassen:
      return fmt::format("{}:strassen", own_implementation());
    case ConvKernel::Library:
      break;
  }
  return direct.impl_info_str();
}

std::optional<ConvChoice> direct_conv(const Graph& graph, const dnnl::engine& engine, const ConvProblem& problem,
                                      std::span<const Post> posts, const ConvLayouts& layouts, bool sum, bool slow) {
  auto made = make_posts(graph, posts, problem.dst, layouts.dst, sum);
  if (!made) return std::nullopt;
  auto desc = attempt([&] { return describe_pass(engine, problem, layouts, made->attr); });
  if (!desc || (!slow && is_reference(desc->impl_info_str()))) return std::nullopt;
  const bool filters = problem.pass == ConvPass::Filters;
  const Desc dst = desc->query_md(filters ? dnnl::query::diff_dst_md : dnnl::query::dst_md);
  // If oneDNN chose the result's layout, it chose that of the added value too.
  for (auto& operand : made->operands)
    if (operand.layout.data.format_kind == dnnl_format_kind_any) operand.layout = dst;
  if (is_wrong(problem, *desc, *made)) return std::nullopt;
  ConvChoice choice{desc->query_md(dnnl::query::src_md), dst, std::move(*made)};
  choice.weights = desc->query_md(filters ? dnnl::query::diff_weights_md : dnnl::query::weights_md);
  choice.direct = std::move(*desc);
  return choice;
}

namespace {

/// Returns the way by a kernel of our own, with the image and the result in a form; nothing if it does not have the
/// posts.
std::optional<ConvChoice> own_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts,
                                   Form form) {
  const Desc dst = form_desc(problem.dst, form);
  auto made = make_posts(graph, posts, problem.dst, dst, false);
  const auto own = made ? own_posts(*made, dst) : std::nullopt;
  if (!own) return std::nullopt;
  ConvChoice choice{form_desc(problem.src, form), dst, std::move(*made)};
  choice.own_posts = *own;
  return choice;
}

}  // namespace

std::optional<ConvChoice> winograd_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts) {
  const auto winograd = problem.winograd();
  auto choice = winograd ? own_conv(graph, problem, posts, native_block()) : std::nullopt;
  if (!choice) return std::nullopt;
  choice->winograd = winograd;
  if (!problem.constant_weights) choice->work = WinogradWork::Weights;
  return choice;
}

std::optional<ConvChoice> strassen_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts) {
  const auto strassen = problem.strassen();
  auto choice = strassen ? own_conv(graph, problem, posts, native_block()) : std::nullopt;
  if (choice) choice->strassen = strassen;
  return choice;
}

std::optional<ConvChoice> depthwise_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts,
                                         bool blocked) {
  const auto depthwise = problem.depthwise(blocked);
  if (!depthwise) return std::nullopt;
  auto choice = own_conv(graph, problem, posts, blocked ? native_block() : kLastForm);
  if (choice) choice->depthwise = depthwise;
  return choice;
}

bool same_way(const ConvForm& a, const ConvForm& b) {
  return a.src == b.src && a.dst == b.dst && a.kernel == b.kernel && a.sums == b.sums && a.dtype == b.dtype;
}

ConvForm form_of(const ConvChoice& choice) {
  return {.src = form_of(choice.src),
          .dst = form_of(choice.dst),
          .kernel = choice.kernel(),
          .sums = choice.posts.summed.has_value(),
          .dtype = choice.src.data_type() == kF32 ? DType::Float : DType::BFloat16};
}

namespace {

/// The ways to compute the gradient for filters.
ConvChoices filter_choices(const Graph& graph, ConvProblem read, std::optional<Algorithm> algorithm,
                           const ConvSettings& settings) {
  ConvChoices out{.problem = std::move(read)};
  const ConvProblem& problem = out.problem;
  const auto winograd = algorithm == Algorithm::Direct ? std::nullopt : problem.winograd();
  const bool decided = winograd && algorithm;
  if (!decided)
    for (const ConvLayouts& layouts : conv_layouts(problem, native_block(), kF32, kF32, std::nullopt))
      if (auto way = direct_conv(graph, settings.engine, problem, {}, layouts, false))
        out.ways.push_back(std::move(*way));
  const bool grouped = problem.weights.size() > problem.src.size();
  if (grouped && out.ways.empty()) {  // the operator's operands do not exist
    const ConvLayouts plain{plain_desc(problem.src), plain_desc(problem.dst)};
    if (auto way = direct_conv(graph, settings.engine, problem, {}, plain, false, true))
      out.ways.push_back(std::move(*way));
  }
  if (decided || (winograd && settings.try_own && !out.ways.empty()))
    out.ways.push_back({.src = channel_blocked_desc(problem.src, native_block()),
                        .dst = channel_blocked_desc(problem.dst, native_block()),
                        .posts = {},
                        .weights = problem.given,
                        .winograd = winograd,
                        .work = WinogradWork::Filters});
  return out;
}

}  // namespace

ConvChoices conv_choices(const Graph& graph, const Group& group, const Decisions& decisions,
                         const ConvSettings& settings) {
  const auto algorithm = decisions.algorithm(graph.node(group.root).result());
  if (group.posts.empty())
    if (auto filters = read_filter_gradient(graph, graph.node(group.root))) {
      ConvChoices choices = filter_choices(graph, std::move(*filters), algorithm, settings);
      if (!choices.ways.empty() || reads_groups(graph, graph.node(group.root))) return choices;
    }
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
  if (!settings.try_own || out.ways.empty() || out.ways.front().src.data_type() != kF32) return out;
  if (!algorithm) consider(winograd_conv(graph, problem, posts));
  if (!algorithm) consider(strassen_conv(graph, problem, posts));
  for (const bool blocked : {false, true}) consider(depthwise_conv(graph, problem, posts, blocked));
  return out;
}

}  // namespace isomer::onednn
