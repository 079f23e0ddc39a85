#include "isomer/engine/onednn/tuned_convs.h"

#include <fmt/ranges.h>

namespace isomer::onednn {

std::span<const ConvForm> TunedConvs::of(const Graph& graph, const Group& group, const Decisions& decisions) {
  choices_.clear();
  forms_.clear();
  if (builder_.reads_boxed(group)) return {};
  const Node& node = graph.node(group.root);
  problem_ = read_conv(graph, node);
  if (!problem_) return {};
  const ValueId result = graph.node(group.last()).result();
  choices_ = conv_ways(graph, builder_.engine(), *problem_, group.posts,
                       {.types = builder_.types(),
                        .result_in_f32 = graph.is_output(result),
                        .algorithm = decisions.algorithm(node.result()),
                        .layout = decisions.layout(result),
                        .try_winograd = builder_.tuner().measures()});
  for (const ConvChoice& choice : choices_) {
    forms_.push_back(form_of(choice));
    forms_.back().us = time(choice);
  }
  return forms_;
}

double TunedConvs::time(const ConvChoice& choice) {
  if (!builder_.tuner().measures()) return 0;
  const std::string key = fmt::format("{}{} {} {}", problem_->key(), choice.posts.key,
                                      layout_str(choice.desc.src_desc()), layout_str(choice.desc.dst_desc()));
  return builder_.tuner().time(builder_.engine(), choice.desc, key);
}

double TunedConvs::cost(const Graph& graph, const ConvReorder& reorder) {
  using Of = ConvReorder::Of;
  const ConvChoice& choice = choices_[reorder.way];
  const bool before = reorder.of == Of::Image || reorder.of == Of::Added;
  Desc from = choice.desc.dst_desc();
  if (before) from = builder_.at(reorder.value).desc;
  Desc to = reorder.of == Of::Image ? choice.desc.src_desc() : choice.desc.dst_desc();
  if (reorder.of == Of::Part) to = builder_.place_in_concat(reorder.value)->desc;
  if (reorder.of == Of::Decided) to = form_desc(dims_of(graph.type(reorder.value)), reorder.to, from.data_type());
  if (same_layout(from, to)) return 0;
  if (!builder_.tuner().measures()) return 1;
  const dnnl::reorder::primitive_desc desc(builder_.engine(), from, builder_.engine(), to);
  const std::string key =
      fmt::format("reorder {} {} to {}", fmt::join(from.dims(), ","), layout_str(from), layout_str(to));
  return builder_.tuner().time(builder_.engine(), desc, key);
}

}  // namespace isomer::onednn
