#include "isomer/engine/onednn/loss_gradient.h"

#include <algorithm>

namespace isomer::onednn {
namespace {

/// Whether the attribute `axis` of a node is the last axis of its result.
bool is_along_last(const Graph& graph, const Node& node) {
  const auto rank = static_cast<int64_t>(graph.type(node.result()).rank());
  const int64_t axis = node.attrs.integer("axis");
  return axis == -1 || axis == rank - 1;
}

/// Whether a value has the numbers 0 and 1.
bool are_marks(const Graph& graph, ValueId value) {
  const Tensor* const data = graph.constant(value);
  return data != nullptr && data->dtype() == DType::Float && data->element_count() == 2 &&
         data->data<float>()[0] == 0 && data->data<float>()[1] == 1;
}

/// The gradient without a factor: Sub(Softmax(scores), OneHot(labels)).
std::optional<LossGradient> plain_gradient(const Graph& graph, const Node& difference) {
  const auto operands = graph.operands(difference);
  const Node* const softmax = inner_maker(graph, operands[0], "Softmax");
  const Node* const hot = inner_maker(graph, operands[1], "OneHot");
  if (softmax == nullptr || hot == nullptr || !is_along_last(graph, *softmax) || !is_along_last(graph, *hot) ||
      !are_marks(graph, graph.operands(*hot)[1]))
    return std::nullopt;
  const TensorType& type = graph.type(difference.result());
  const ValueId labels = graph.operands(*hot)[0];
  const DType dtype = graph.type(labels).dtype;
  if (!may_be_plannable(graph, difference.result()) || graph.type(softmax->result()) != type ||
      graph.type(hot->result()) != type || (dtype != DType::Int64 && dtype != DType::Int32))
    return std::nullopt;
  return LossGradient{.scores = graph.operands(*softmax)[0],
                      .labels = labels,
                      .inner = {graph.producer(operands[0]), graph.producer(operands[1])}};
}

/// Whether a value of f32 has one number, or one for each row of a tensor of this shape.
bool is_factor(const Graph& graph, ValueId value, const Shape& shape) {
  if (!may_be_plannable(graph, value)) return false;
  const Shape& factor = *graph.type(value).shape;
  if (std::ranges::all_of(factor, [](const Dim& extent) { return extent.is(1); })) return factor.size() <= shape.size();
  return factor.size() == shape.size() && factor.back().is(1) &&
         std::equal(factor.begin(), factor.end() - 1, shape.begin());
}

}  // namespace

std::optional<LossGradient> loss_gradient(const Graph& graph, NodeId last) {
  const Node& node = graph.node(last);
  if (is_named(node, "Sub")) return plain_gradient(graph, node);
  if (!is_named(node, "Mul")) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const ValueId difference = graph.operands(node)[i];
    const ValueId factor = graph.operands(node)[1 - i];
    const Node* const maker = inner_maker(graph, difference, "Sub");
    if (maker == nullptr || graph.type(node.result()) != graph.type(difference)) continue;
    auto found = plain_gradient(graph, *maker);
    if (!found || !is_factor(graph, factor, *graph.type(difference).shape)) continue;
    found->factor = factor;
    found->inner.push_back(graph.producer(difference));
    std::ranges::sort(found->inner);
    return found;
  }
  return std::nullopt;
}

std::vector<Group> with_loss_gradients(const Graph& graph, std::vector<Group> groups) {
  std::vector<bool> joined(graph.nodes().size(), false);
  for (Group& group : groups) {
    const bool scales = group.posts.size() == 1 && group.posts[0].inner.empty();
    if (!group.inner.empty() || !(group.posts.empty() || scales)) continue;
    const auto gradient = loss_gradient(graph, group.last());
    if (!gradient || (scales && gradient->factor == kNoValue)) continue;
    group = {.root = group.last(), .inner = gradient->inner};
    for (const NodeId node : group.inner) joined[node] = true;
  }
  std::erase_if(groups, [&](const Group& group) { return joined[group.root]; });
  return groups;
}

bool is_loss_gradient(const Graph& graph, const Group& group) {
  return !group.inner.empty() && loss_gradient(graph, group.root).has_value();
}

}  // namespace isomer::onednn
