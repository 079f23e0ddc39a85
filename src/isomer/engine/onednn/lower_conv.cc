// Convolutions.

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "isomer/engine/onednn/conv_problem.h"
#include "isomer/engine/onednn/filter_gradient.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/winograd_filters.h"

namespace isomer::onednn {
namespace {

/// Returns whether an addition should read its operand where it is, rather than from a copy in the result's place.
bool must_read(Builder& builder, const ConvChoice& choice, const Location& src, ValueId result) {
  if (!choice.posts.summed) return false;
  const auto part = builder.place_in_concat(result);
  if (part && same_layout(part->desc, choice.dst)) return true;
  const Location other = builder.at(*choice.posts.summed);
  return same_layout(other.desc, choice.dst) && (!builder.may_overwrite(other) || other.buffer == src.buffer);
}

/// Returns the planned way. For another number of threads, oneDNN may offer other ways. Then this is the first one with
/// the planned forms, or else the preferred one.
const ConvChoice& planned_way(const std::vector<ConvChoice>& ways, const GroupForms& planned) {
  const auto is_planned = [&](const ConvChoice& choice) { return same_way(form_of(choice), planned.conv); };
  if (*planned.way < ways.size() && is_planned(ways[*planned.way])) return ways[*planned.way];
  const auto found = std::ranges::find_if(ways, is_planned);
  return found == ways.end() ? ways.front() : *found;
}

Location conv_weights(Builder& builder, ValueId value, const ConvProblem& problem, const Desc& wanted) {
  if (builder.graph().constant(value) != nullptr) return builder.constant(value, problem.given, wanted);
  Location given = builder.plain(value);
  given.desc = problem.given;
  const Location copy = builder.room(wanted.get_size(), wanted);
  builder.emit_reorder(given, copy, value);
  return copy;
}

void lower_direct(Builder& builder, const Group& group, const ConvProblem& problem, const ConvChoice& choice) {
  const Graph& graph = builder.graph();
  const auto operands = graph.operands(graph.node(group.root));
  const ValueId result = graph.node(group.last()).result();
  const Location src = builder.as(operands[0], choice.src);
  std::optional<ConvChoice> reading;
  if (must_read(builder, choice, src, result))
    reading = direct_conv(graph, builder.engine(), problem, group.posts, {choice.src, choice.dst}, false);
  const ConvChoice& used = reading ? *reading : choice;
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, src},
                                     {DNNL_ARG_WEIGHTS, conv_weights(builder, operands[1], problem, used.weights)}};
  if (problem.bias) arguments.push_back({DNNL_ARG_BIAS, builder.plain(operands[2])});
  add_post_arguments(builder, used.posts, arguments);
  const Location dst = place_result(builder, used.posts, used.dst, arguments, result);
  arguments.push_back({DNNL_ARG_DST, dst});
  builder.emit(group_name(graph, group), used.direct, arguments, {result});
  builder.place(result, dst);
}

/// `from`: the image, and the gradient of the result.
void emit_winograd_filters(Builder& builder, const ConvChoice& choice, const std::array<Location, 2>& from,
                           const Location& to, ValueId result) {
  const int parts = current_threads();
  const WinogradConv conv = *choice.winograd;
  const Location scratch = builder.room(static_cast<size_t>(winograd_filters_scratch(conv, parts)) * sizeof(float));
  emit_own(builder, {.name = "filters of Conv",
                     .implementation = choice.implementation(),
                     .from = {from[0], from[1]},
                     .scratch = scratch,
                     .to = to,
                     .result = result,
                     .run = [=](Workspace& workspace) -> Status {
                       run_winograd_filters(conv,
                                            {.image = elements_at(workspace, from[0]),
                                             .gradient = elements_at(workspace, from[1]),
                                             .filters = mutable_elements_at(workspace, to),
                                             .scratch = mutable_elements_at(workspace, scratch)},
                                            parts);
                       return {};
                     }});
}

/// Unless Winograd's algorithm is chosen, the filters are made in oneDNN's layout, then put in row-major order: for the
/// graph, with their first two axes exchanged.
void lower_filters(Builder& builder, const Group& group, const ConvProblem& problem, const ConvChoice& choice) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const FilterGradient operands = *filter_gradient(graph, node);
  const Location image = builder.as(operands.image, choice.src);
  const Location gradient = builder.as(operands.gradient, choice.dst);
  const Location to = builder.room(problem.given.get_size(), problem.given);
  Dims filters = dims_of(graph.type(node.result()));
  std::swap(filters[0], filters[1]);
  Dims perm(filters.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[0], perm[1]);
  const Location exchanged{to.buffer, to.offset, permuted(plain_desc(filters), perm)};
  if (choice.winograd) return emit_winograd_filters(builder, choice, {image, gradient}, exchanged, node.result());
  const bool direct = same_layout(choice.weights, problem.given);
  const Location made = direct ? to : builder.room(choice.weights.get_size(), choice.weights);
  builder.emit("filters of Conv", choice.direct,
               {{DNNL_ARG_SRC, image}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_WEIGHTS, made}}, {node.result()});
  if (!direct) builder.emit_reorder(made, to, node.result());
  builder.place(node.result(), exchanged);
}

/// Returns the weights as a kernel of our own reads them. Those that are not constant are converted in each run.
/// `to` must be of other extents than those of the operator, and determine the conversion.
Location converted_weights(Builder& builder, ValueId value, const Dims& to, const Builder::Conversion& convert) {
  const Desc desc = plain_desc(to);
  if (builder.graph().constant(value) != nullptr) return builder.converted_constant(value, desc, convert);
  const Location given = builder.plain(value);
  const Location room = builder.room(desc.get_size(), desc);
  builder.emit({.name = "transform weights",
                .implementation = own_implementation(),
                .arguments = {{DNNL_ARG_DST, room}},
                .function = [=](Workspace& workspace) -> Status {
                  convert(elements_at(workspace, given), mutable_elements_at(workspace, room));
                  return {};
                },
                .touches = {read_of(given), write_of(room)},
                .values = {value}});
  return room;
}

/// What a kernel of our own needs for a convolution, apart from the image, the bias and the posts.
struct OwnConv {
  Location weights;
  std::optional<Location> scratch = std::nullopt;
  bool overwrites = true;  ///< whether it may write its result over a value that it adds
  std::function<void(const Workspace&, const float* image, const FinishArguments&)> run = nullptr;
};

void emit_own_conv(Builder& builder, const Group& group, const ConvProblem& problem, const ConvChoice& choice,
                   const OwnConv& conv) {
  const Graph& graph = builder.graph();
  const auto operands = graph.operands(graph.node(group.root));
  const ValueId result = graph.node(group.last()).result();
  const Location src = builder.as(operands[0], choice.src);
  std::optional<Location> bias;
  if (problem.bias) bias = builder.plain(operands[2]);
  const LocatedPosts posts(builder, choice.posts, choice.own_posts);
  OwnKernel kernel{.name = group_name(graph, group),
                   .implementation = choice.implementation(),
                   .from = {src, conv.weights},
                   .scratch = conv.scratch,
                   .to = builder.result(result, choice.dst, conv.overwrites ? posts.over(src) : std::nullopt),
                   .result = result};
  emit_own(builder, std::move(kernel), bias, posts,
           [src, run = conv.run](const Workspace& workspace, const FinishArguments& finish) {
             run(workspace, elements_at(workspace, src), finish);
           });
}

/// `given`: the operator's weights.
OwnConv winograd_of(Builder& builder, ValueId given, const WinogradConv& conv) {
  const int parts = current_threads();
  // Extents that tell whether they are transposed: both kinds of convolution may have the same weights.
  const int64_t count = winograd_weights(conv);
  const Location weights =
      converted_weights(builder, given, conv.transposed ? Dims{1, count} : Dims{count},
                        [conv](const float* from, float* to) { transform_weights(conv, from, to); });
  const Location scratch = builder.room(static_cast<size_t>(winograd_scratch(conv, parts)) * sizeof(float));
  return {.weights = weights,
          .scratch = scratch,
          .run = [=](const Workspace& workspace, const float* image, const FinishArguments& finish) {
            run_winograd(conv,
                         {.image = image,
                          .weights = elements_at(workspace, weights),
                          .bias = finish.bias,
                          .result = finish.result,
                          .scratch = mutable_elements_at(workspace, scratch)},
                         finish.posts, parts);
          }};
}

OwnConv depthwise_of(Builder& builder, ValueId given, const DepthwiseConv& conv) {
  // Both kinds of convolution may have the same weights.
  const int64_t count = depthwise_weights(conv);
  const Location weights =
      converted_weights(builder, given, conv.transposed ? Dims{1, 1, count, 1} : Dims{1, 1, count},
                        [conv](const float* from, float* to) { pack_depthwise_weights(conv, from, to); });
  return {.weights = weights,
          .overwrites = !computes_twice(conv),
          .run = [=](const Workspace& workspace, const float* image, const FinishArguments& finish) {
            run_depthwise(conv, {image, elements_at(workspace, weights), finish.bias, finish.result}, finish.posts);
          }};
}

OwnConv strassen_of(Builder& builder, ValueId given, const StrassenProduct& product) {
  const int threads = current_threads();
  const Location weights =
      converted_weights(builder, given, {1, 1, 1, strassen_weights(product)},
                        [product](const float* from, float* to) { pack_strassen_weights(product, true, from, to); });
  const Location scratch = builder.room(static_cast<size_t>(strassen_scratch(product, threads)) * sizeof(float));
  return {.weights = weights,
          .scratch = scratch,
          .overwrites = false,
          .run = [=](const Workspace& workspace, const float* image, const FinishArguments& finish) {
            run_strassen(product,
                         {.a = image,
                          .weights = elements_at(workspace, weights),
                          .bias = finish.bias,
                          .result = finish.result,
                          .scratch = mutable_elements_at(workspace, scratch)},
                         finish.posts, threads);
          }};
}

}  // namespace

Result<bool> lower_conv(Builder& builder, const Group& group) {
  if (!builder.planned().way && reads_groups(builder.graph(), builder.graph().node(group.root)))
    return fail("oneDNN has no kernel for this gradient for filters");
  if (!builder.planned().way) return false;
  const ConvChoices choices = conv_choices(builder.graph(), group, builder.planning().decisions(),
                                           {builder.engine(), builder.types(), builder.tuner().measures()});
  if (choices.ways.empty()) return false;
  const ConvChoice& choice = planned_way(choices.ways, builder.planned());
  const ConvProblem& problem = choices.problem;
  const ValueId weights = builder.graph().operands(builder.graph().node(group.root))[1];
  if (problem.pass == ConvPass::Filters)
    lower_filters(builder, group, problem, choice);
  else if (choice.winograd)
    emit_own_conv(builder, group, problem, choice, winograd_of(builder, weights, *choice.winograd));
  else if (choice.strassen)
    emit_own_conv(builder, group, problem, choice, strassen_of(builder, weights, *choice.strassen));
  else if (choice.depthwise)
    emit_own_conv(builder, group, problem, choice, depthwise_of(builder, weights, *choice.depthwise));
  else
    lower_direct(builder, group, problem, choice);
  return true;
}

}  // namespace isomer::onednn
