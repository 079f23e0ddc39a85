// Convolutions.

#include <fmt/ranges.h>

#include "isomer/engine/onednn/conv_problem.h"

namespace isomer::onednn {
namespace {

using dnnl::algorithm;

/// Returns the cost of converting a value to another layout: a time or, if nothing is measured, the number of
/// conversions.
double reorder_cost(Builder& builder, const Desc& from, const Desc& to) {
  if (same_layout(from, to)) return 0;
  if (!builder.tuner().measures()) return 1;
  const dnnl::reorder::primitive_desc desc(builder.engine(), from, builder.engine(), to);
  const std::string key =
      fmt::format("reorder {} {} to {}", fmt::join(from.dims(), ","), layout_str(from), layout_str(to));
  return builder.tuner().time(builder.engine(), desc, key);
}

/// Returns the fastest way, including the changes of layout around it.
std::optional<ConvChoice> choose(Builder& builder, const ConvProblem& problem, const Group& group, ValueId x,
                                 ValueId result) {
  std::optional<ConvChoice> best;
  double least = 0;
  const Desc before = builder.at(x).desc;
  const auto part = builder.place_in_concat(result);
  const auto decided = builder.decided_algorithm(builder.graph().node(group.root).result());
  const auto candidate = [&](const ConvLayouts& layouts, bool sum, algorithm how) {
    return conv_candidate(builder.graph(), builder.engine(), problem, group.posts, layouts, sum, how);
  };
  const auto consider = [&](std::optional<ConvChoice> choice) {
    if (!choice) return;
    double cost = reorder_cost(builder, before, choice->desc.src_desc());
    if (part) cost += reorder_cost(builder, choice->desc.dst_desc(), part->desc);
    if (const auto layout = builder.decided_layout(result, choice->desc.dst_desc().data_type()))
      cost += reorder_cost(builder, choice->desc.dst_desc(), *layout);
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
  const ConvLayouts any = {any_desc(problem.src), any_desc(problem.dst)};
  if (decided == Algorithm::Winograd && problem.may_be_winograd())
    consider(candidate(any, true, algorithm::convolution_winograd));
  if (best) return best;
  for (const ElementType type : builder.types()) {
    if (best) break;
    const ElementType result_type = builder.result_type(result, type);
    for (const ConvLayouts& layouts :
         conv_layouts(problem, builder.block(), type, result_type, builder.decided_layout(result, result_type)))
      consider(candidate(layouts, true, algorithm::convolution_direct));
  }
  const bool trial = !decided && problem.may_be_winograd() && builder.tuner().measures();
  if (trial && best && best->desc.src_desc().data_type() == kF32)
    consider(candidate(any, true, algorithm::convolution_winograd));
  return best;
}

/// Returns whether an addition should read its operand where it is, rather than from a copy in the result's place.
bool must_read(Builder& builder, const ConvChoice& choice, const Location& src, ValueId result) {
  if (!choice.posts.summed) return false;
  const Desc layout = choice.desc.dst_desc();
  const auto part = builder.place_in_concat(result);
  if (part && same_layout(part->desc, layout)) return true;
  const Location other = builder.at(*choice.posts.summed);
  return same_layout(other.desc, layout) && (!builder.may_overwrite(other) || other.buffer == src.buffer);
}

Location conv_weights(Builder& builder, ValueId value, const ConvProblem& problem, const Desc& wanted) {
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
  const auto problem = read_conv(graph, node);
  if (!problem) return false;
  const auto operands = graph.operands(node);
  const ValueId result = graph.node(group.last()).result();
  auto choice = choose(builder, *problem, group, operands[0], result);
  if (!choice) return false;
  const Location src = builder.as(operands[0], choice->desc.src_desc());
  // Only direct convolutions read it; an operand of a decided Winograd is copied to the result's place.
  const bool winograd = builder.decided_algorithm(node.result()) == Algorithm::Winograd && problem->may_be_winograd();
  if (!winograd && must_read(builder, *choice, src, result)) {
    const ConvLayouts same = {choice->desc.src_desc(), choice->desc.dst_desc()};
    auto reading =
        conv_candidate(graph, builder.engine(), *problem, group.posts, same, false, algorithm::convolution_direct);
    if (reading) choice = std::move(reading);
  }
  const auto& desc = choice->desc;
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
