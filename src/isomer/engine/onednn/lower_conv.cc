// Convolutions.

#include <algorithm>

#include "isomer/engine/onednn/conv_problem.h"

namespace isomer::onednn {
namespace {

/// Returns whether an addition should read its operand where it is, rather than from a copy in the result's place.
bool must_read(Builder& builder, const ConvChoice& choice, const Location& src, ValueId result) {
  if (!choice.posts.summed) return false;
  const Desc layout = choice.desc.dst_desc();
  const auto part = builder.place_in_concat(result);
  if (part && same_layout(part->desc, layout)) return true;
  const Location other = builder.at(*choice.posts.summed);
  return same_layout(other.desc, layout) && (!builder.may_overwrite(other) || other.buffer == src.buffer);
}

/// Returns the planned way. For another number of threads, oneDNN may offer other ways. Then this is the first one with
/// the planned forms, or else the preferred one.
ConvChoice& planned_way(std::vector<ConvChoice>& ways, const GroupForms& planned) {
  const auto is_planned = [&](const ConvChoice& choice) { return same_way(form_of(choice), planned.conv); };
  if (*planned.way < ways.size() && is_planned(ways[*planned.way])) return ways[*planned.way];
  const auto found = std::ranges::find_if(ways, is_planned);
  return found == ways.end() ? ways.front() : *found;
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
  if (!builder.planned().way) return false;
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const ValueId result = graph.node(group.last()).result();
  ConvChoices choices = conv_choices(graph, group, builder.planning().decisions(),
                                     {builder.engine(), builder.types(), builder.tuner().measures()});
  if (choices.ways.empty()) return false;
  const ConvProblem& problem = choices.problem;
  ConvChoice& choice = planned_way(choices.ways, builder.planned());
  const Location src = builder.as(operands[0], choice.desc.src_desc());
  // Only direct convolutions read it; an operand of a decided Winograd is copied to the result's place.
  if (builder.planned().obeyed != Algorithm::Winograd && must_read(builder, choice, src, result)) {
    const ConvLayouts same = {choice.desc.src_desc(), choice.desc.dst_desc()};
    auto reading =
        conv_candidate(graph, builder.engine(), problem, group.posts, same, false, dnnl::algorithm::convolution_direct);
    if (reading) choice = std::move(*reading);
  }
  const auto& desc = choice.desc;
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, conv_weights(builder, operands[1], problem, desc.weights_desc())}};
  if (problem.bias) arguments.push_back({DNNL_ARG_BIAS, builder.plain(operands[2])});
  add_post_arguments(builder, choice.posts, arguments);
  const Location dst = place_result(builder, choice.posts, desc.dst_desc(), src, result);
  arguments.push_back({DNNL_ARG_DST, dst});
  builder.emit(group_name(graph, group), desc, arguments, {result});
  builder.place(result, dst);
  return true;
}

}  // namespace isomer::onednn
