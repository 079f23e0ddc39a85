// Convolutions.

#include <fmt/ranges.h>

#include "isomer/ops/window.h"
#include "isomer/runtime/onednn/lower.h"

namespace isomer::onednn {
namespace {

using dnnl::algorithm;
using ConvDesc = dnnl::convolution_forward::primitive_desc;

/// A convolution as oneDNN wants to hear it.
struct Problem {
  Dims src, weights, dst;  // weights with the groups in front where there are several
  Dims strides = {}, dilations = {}, begin = {}, end = {};
  bool bias = false;

  std::string key() const {
    return fmt::format("conv {} {} {} s{} d{} p{} {} b{}", fmt::join(src, ","), fmt::join(weights, ","),
                       fmt::join(dst, ","), fmt::join(strides, ","), fmt::join(dilations, ","), fmt::join(begin, ","),
                       fmt::join(end, ","), bias);
  }
  bool may_be_winograd() const {
    const size_t rank = src.size();
    return rank == 4 && weights.size() == 4 && weights[2] == 3 && weights[3] == 3 && strides == Dims{1, 1} &&
           dilations == Dims{0, 0} && src[1] >= 16 && dst[1] >= 16;
  }
};

std::optional<Problem> read_problem(const Graph& graph, const Node& node) {
  const auto operands = graph.operands(node);
  for (const ValueId operand : operands)
    if (operand != kNoValue && !is_dense(graph, operand)) return std::nullopt;
  if (!is_dense(graph, node.result())) return std::nullopt;
  Problem problem{dims_of(graph.type(operands[0])), dims_of(graph.type(operands[1])),
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

/// Layouts of the data, `any` for what oneDNN likes best.
struct Layouts {
  Desc src, dst;
};

std::optional<ConvDesc> describe(const Builder& builder, const Problem& p, const Layouts& layouts, const PostOps& posts,
                                 algorithm how) {
  return attempt([&] {
    const Desc bias = p.bias ? plain_desc({p.dst[1]}) : Desc();
    const dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference, how, layouts.src,
                                               any_desc(p.weights, layouts.src.data_type()), bias, layouts.dst,
                                               p.strides, p.dilations, p.begin, p.end);
    return ConvDesc(what, posts.attr, builder.engine(), true);
  });
}

/// A description with the posts that it takes.
struct Choice {
  ConvDesc desc;
  PostOps posts;
};

/// Nothing where oneDNN has no code but its reference.
std::optional<Choice> candidate(const Builder& builder, const Problem& problem, const Group& group,
                                const Layouts& layouts, const Desc& added, bool sum, algorithm how) {
  auto posts = make_posts(builder.graph(), group.posts, problem.dst, added, sum);
  if (!posts) return std::nullopt;
  auto desc = describe(builder, problem, layouts, *posts, how);
  if (!desc || is_reference(desc->impl_info_str())) return std::nullopt;
  return Choice{std::move(*desc), std::move(*posts)};
}

std::vector<Layouts> layouts_to_try(const Builder& builder, const Problem& problem, ElementType type,
                                    ElementType result_type) {
  std::vector<Layouts> layouts = {{any_desc(problem.src, type), any_desc(problem.dst, result_type)}};
  const int block = builder.block();
  if (problem.dst[1] % block != 0) return layouts;
  const Desc dst = channel_blocked_desc(problem.dst, block, result_type);
  const bool src_fits = problem.src[1] % block == 0;
  layouts.push_back({src_fits ? channel_blocked_desc(problem.src, block, type) : any_desc(problem.src, type), dst});
  return layouts;
}

/// What it takes to bring a value into another layout, by time or, where nothing is measured, by number.
double reorder_cost(Builder& builder, const Desc& from, const Desc& to) {
  if (same_layout(from, to)) return 0;
  if (!builder.tuner().measures()) return 1;
  const dnnl::reorder::primitive_desc desc(builder.engine(), from, builder.engine(), to);
  const std::string key =
      fmt::format("reorder {} {} to {}", fmt::join(from.dims(), ","), layout_str(from), layout_str(to));
  return builder.tuner().time(builder.engine(), desc, key);
}

/// The fastest way, with the changes of layout around it.
std::optional<Choice> choose(Builder& builder, const Problem& problem, const Group& group, ValueId x, ValueId result) {
  std::optional<Choice> best;
  double least = 0;
  const Desc before = builder.at(x).desc;
  const auto part = builder.place_in_concat(result);
  const auto consider = [&](std::optional<Choice> choice) {
    if (!choice) return;
    double cost = reorder_cost(builder, before, choice->desc.src_desc());
    if (part) cost += reorder_cost(builder, choice->desc.dst_desc(), part->desc);
    if (choice->posts.summed)
      cost += reorder_cost(builder, builder.at(*choice->posts.summed).desc, choice->desc.dst_desc());
    if (builder.tuner().measures()) {
      const std::string key = fmt::format("{}{} {} {}", problem.key(), choice->posts.key,
                                          layout_str(choice->desc.src_desc()), layout_str(choice->desc.dst_desc()));
      cost += builder.tuner().time(builder.engine(), choice->desc, key);
    }
    if (best && cost >= least) return;
    least = cost;
    best = std::move(choice);
  };
  for (const ElementType type : builder.types()) {
    if (best) break;
    for (const Layouts& layouts : layouts_to_try(builder, problem, type, builder.result_type(result, type)))
      consider(candidate(builder, problem, group, layouts, layouts.dst, true, algorithm::convolution_direct));
  }
  if (best && best->desc.src_desc().data_type() == kF32 && problem.may_be_winograd() && builder.tuner().measures()) {
    const Layouts any = {any_desc(problem.src), any_desc(problem.dst)};
    consider(candidate(builder, problem, group, any, any.dst, true, algorithm::convolution_winograd));
  }
  return best;
}

/// Whether an addition should read its operand where it is, rather than find a copy of it in the result's place.
bool must_read(Builder& builder, const Choice& choice, const Location& src, ValueId result) {
  if (!choice.posts.summed) return false;
  const Desc layout = choice.desc.dst_desc();
  const auto part = builder.place_in_concat(result);
  if (part && same_layout(part->desc, layout)) return true;
  const Location other = builder.at(*choice.posts.summed);
  return same_layout(other.desc, layout) && (!builder.may_overwrite(other) || other.buffer == src.buffer);
}

Location conv_weights(Builder& builder, ValueId value, const Problem& problem, const Desc& wanted) {
  if (builder.graph().constant(value) != nullptr) return builder.constant(value, plain_desc(problem.weights), wanted);
  Location given = builder.plain(value);
  given.desc = plain_desc(problem.weights);
  const Location copy = builder.room(wanted.get_size(), wanted);
  builder.emit_reorder(given, copy, value);
  return copy;
}

}  // namespace

Result<bool> lower_conv(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto problem = read_problem(graph, node);
  if (!problem) return false;
  const auto operands = graph.operands(node);
  const ValueId result = graph.node(group.last()).result();
  auto choice = choose(builder, *problem, group, operands[0], result);
  if (!choice) return false;
  const Location src = builder.as(operands[0], choice->desc.src_desc());
  if (must_read(builder, *choice, src, result)) {
    const Layouts same = {choice->desc.src_desc(), choice->desc.dst_desc()};
    auto reading = candidate(builder, *problem, group, same, same.dst, false, algorithm::convolution_direct);
    if (reading) choice = std::move(reading);
  }
  const ConvDesc& desc = choice->desc;
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, conv_weights(builder, operands[1], *problem, desc.weights_desc())}};
  if (problem->bias) arguments.push_back({DNNL_ARG_BIAS, builder.plain(operands[2])});
  add_post_arguments(builder, choice->posts, arguments);
  const Location dst = place_result(builder, choice->posts, desc.dst_desc(), src, result);
  arguments.push_back({DNNL_ARG_DST, dst});
  builder.emit(group_name(graph, group), desc, arguments, {result});
  builder.place(result, dst);
  return true;
}

}  // namespace isomer::onednn
