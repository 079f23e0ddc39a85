#include "isomer/engine/onednn/fusion.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "isomer/engine/onednn/filter_gradient.h"
#include "isomer/engine/onednn/gelu.h"
#include "isomer/engine/onednn/kernel_traits.h"
#include "isomer/engine/onednn/loop_fusion.h"
#include "isomer/engine/onednn/loss_gradient.h"
#include "isomer/engine/onednn/max_pool_gradient.h"
#include "isomer/ops/op_map.h"

namespace isomer::onednn {
namespace {

using dnnl::algorithm;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_standard(const Node& node) { return !node.is_opaque() && node.op->domain.empty(); }

/// Functions without parameters.
const OpMap<Eltwise>& simple_functions() {
  static const OpMap<Eltwise> kFunctions = {
      {"Relu", {algorithm::eltwise_relu}},
      {"Tanh", {algorithm::eltwise_tanh}},
      {"Sigmoid", {algorithm::eltwise_logistic}},
      {"Abs", {algorithm::eltwise_abs}},
      {"Sqrt", {algorithm::eltwise_sqrt}},
      {"Exp", {algorithm::eltwise_exp}},
      {"Log", {algorithm::eltwise_log}},
      {"HardSwish", {algorithm::eltwise_hardswish}},
      {"Neg", {algorithm::eltwise_linear, -1, 0}},
      {"Reciprocal", {algorithm::eltwise_pow, 1, -1}},
      {"Softplus", {algorithm::eltwise_soft_relu}},
      {"Mish", {algorithm::eltwise_mish}},
      {"Round", {algorithm::eltwise_round}},
  };
  return kFunctions;
}

std::optional<float> scalar(const Graph& graph, ValueId value) {
  const Tensor* data = value == kNoValue ? nullptr : graph.constant(value);
  if (data == nullptr || data->dtype() != DType::Float || data->element_count() != 1) return std::nullopt;
  return data->data<float>()[0];
}

float bound(const Node& clip, std::string_view name, float otherwise) {
  return clip.attrs.has(name) ? clip.attrs.tensor(name).data<float>()[0] : otherwise;
}

/// Returns x op c or c op x as a function of x.
std::optional<Eltwise> arithmetic(std::string_view name, float c, bool first) {
  if (name == "Add") return Eltwise{algorithm::eltwise_linear, 1, c};
  if (name == "Mul") return Eltwise{algorithm::eltwise_linear, c, 0};
  if (name == "Sub")
    return first ? Eltwise{algorithm::eltwise_linear, 1, -c} : Eltwise{algorithm::eltwise_linear, -1, c};
  if (name == "Div")
    return first ? Eltwise{algorithm::eltwise_linear, 1 / c, 0} : Eltwise{algorithm::eltwise_pow, c, -1};
  if (name == "Pow" && first)
    return c == 2 ? Eltwise{algorithm::eltwise_square} : Eltwise{algorithm::eltwise_pow, 1, c};
  if (name == "PRelu" && first) return Eltwise{algorithm::eltwise_relu, c, 0};
  if (name == "Max") return Eltwise{algorithm::eltwise_clip, c, kInfinity};
  if (name == "Min") return Eltwise{algorithm::eltwise_clip, -kInfinity, c};
  return std::nullopt;
}

class Fuser {
 public:
  Fuser(const Graph& graph, Stage stage)
      : graph_(graph), stage_(stage), taken_(graph.nodes().size(), false), absorbed_(taken_) {
    for (NodeId id = 0; stage == Stage::Given && id < graph.nodes().size(); ++id)
      if (auto gelu = written_gelu(graph, id); gelu && closed(*gelu))
        gelus_.insert_or_assign(gelu->nodes.front(), std::move(*gelu));
  }

  std::vector<Group> run() {
    std::vector<Group> groups;
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (node.is_input() || node.is_constant() || taken_[id]) continue;
      current_ = id;
      groups.push_back({id});
      if (const auto gelu = gelus_.find(id); gelu != gelus_.end()) {
        take(groups.back(), gelu_post(gelu->second));
        continue;
      }
      if (kernel_traits(node).posts != Posts::None && node.num_results == 1) extend(groups.back());
    }
    std::erase_if(groups, [&](const Group& group) { return absorbed_[group.root]; });
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.last() < b.last(); });
    return groups;
  }

 private:
  void extend(Group& group) {
    if (filter_gradient(graph_, graph_.node(group.root))) return;  // backward kernels have no posts
    const bool heavy = is_heavy(graph_.node(group.root));
    const bool only_relu = kernel_traits(graph_.node(group.root)).posts == Posts::Relu;
    while (group.posts.size() < 6) {
      const auto post = next(group, graph_.node(group.last()).result(), heavy);
      if (!post || (!heavy && !post->function)) return;
      if (post->function && repeats(group, *post->function)) return;
      if (only_relu && (!is_relu(*post->function) || !group.posts.empty())) return;
      take(group, *post);
    }
  }

  /// With a slope, it is a leaky relu.
  static bool is_relu(const Eltwise& function) {
    return function.algorithm == algorithm::eltwise_relu && function.alpha == 0;
  }

  void take(Group& group, Post post) {
    taken_[post.node] = true;
    for (const NodeId inner : post.inner) taken_[inner] = true;
    // A group that the node began is now part of this one.
    if (!post.function)
      for (const NodeId inner : post.inner) absorbed_[inner] = true;
    group.posts.push_back(std::move(post));
  }

  /// Returns whether nothing else reads the values between x and the result.
  bool closed(const WrittenGelu& gelu) const {
    for (const NodeId id : gelu.nodes) {
      if (id == gelu.nodes.back()) continue;
      const ValueId value = graph_.node(id).result();
      if (graph_.is_output(value)) return false;
      for (const NodeId reader : graph_.consumers(value))
        if (std::ranges::find(gelu.nodes, reader) == gelu.nodes.end()) return false;
    }
    return true;
  }
  static Post gelu_post(const WrittenGelu& gelu) {
    const Eltwise function{gelu.tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf};
    return {gelu.nodes.back(), function, kNoValue, 1, {gelu.nodes.begin(), gelu.nodes.end() - 1}};
  }
  /// Returns the Gelu of a value, if nothing else reads the value.
  const WrittenGelu* gelu_of(ValueId value) const {
    for (const NodeId reader : graph_.consumers(value)) {
      const auto found = gelus_.find(reader);
      if (found == gelus_.end() || found->second.x != value) continue;
      const auto& nodes = found->second.nodes;
      const bool alone = std::ranges::all_of(graph_.consumers(value),
                                             [&](NodeId id) { return std::ranges::find(nodes, id) != nodes.end(); });
      return alone && !graph_.is_output(value) && plannable(value) ? &found->second : nullptr;
    }
    return nullptr;
  }
  /// Returns whether a batch normalization will be merged into the convolution before it.
  bool will_fold(const Group& group, const Node& reader) const {
    const Node& root = graph_.node(group.root);
    if (!is_standard(root)) return false;
    if (stage_ != Stage::Given || !group.posts.empty() || !is_standard(reader) ||
        reader.op->name != "BatchNormalization" || root.op->name != "Conv")
      return false;
    const auto weights = [&](std::span<const ValueId> operands) {
      return std::ranges::all_of(operands, [&](ValueId v) { return v == kNoValue || graph_.is_constant_derived(v); });
    };
    return weights(graph_.operands(reader).subspan(1)) && weights(graph_.operands(root).subspan(1));
  }

  /// OneDNN 2.6.3 keeps one set of parameters per algorithm of a kernel: a second clip would use the first one's.
  static bool repeats(const Group& group, const Eltwise& function) {
    return std::ranges::any_of(
        group.posts, [&](const Post& post) { return post.function && post.function->algorithm == function.algorithm; });
  }

  static bool is_heavy(const Node& node) { return kernel_traits(node).posts == Posts::Sums; }

  std::optional<Post> next(const Group& group, ValueId value, bool heavy) const {
    if (const WrittenGelu* gelu = gelu_of(value)) return gelu_post(*gelu);
    const auto readers = graph_.consumers(value);
    if (readers.size() != 1 || graph_.is_output(value) || !plannable(value)) return std::nullopt;
    const Node& reader = graph_.node(readers[0]);
    if (taken_[readers[0]] || reader.num_results != 1 || graph_.type(reader.result()) != graph_.type(value))
      return std::nullopt;
    // Scaling the weights scales the result: nothing is left to do per element.
    if (heavy && will_fold(group, reader)) return Post{readers[0], Eltwise{}};
    if (const auto function = eltwise_of(graph_, reader, value)) return Post{readers[0], function};
    if (!heavy || !is_standard(reader) || reader.op->name != "Add") return std::nullopt;
    const auto operands = graph_.operands(reader);
    const ValueId other = operands[0] == value ? operands[1] : operands[0];
    if (other == value || !plannable(other) || left_to_other(other)) return std::nullopt;
    const bool added_before = std::ranges::any_of(group.posts, [](const Post& post) { return !post.function; });
    if (added_before && !is_known(graph_, other, stage_) && graph_.node(group.root).op->name == "Conv")
      return std::nullopt;
    return scaled(group, readers[0], other).value_or(Post{readers[0], std::nullopt, other});
  }

  /// Returns the addition of an input times a constant, as of momentum, to a product of computed matrices, which our
  /// own kernel does in one pass. Of what a kernel makes, that kernel may scale its result without a pass.
  std::optional<Post> scaled(const Group& group, NodeId addition, ValueId added) const {
    const Node& root = graph_.node(group.root);
    const NodeId maker = graph_.producer(added);
    const Node& scaling = graph_.node(maker);
    if (root.op->name != "MatMul" || !is_standard(scaling) || scaling.op->name != "Mul" || taken_[maker] ||
        graph_.is_output(added) || graph_.consumers(added).size() != 1)
      return std::nullopt;
    const auto operands = graph_.operands(root);
    if (!plannable(operands[0]) || !plannable(operands[1]) || is_known(graph_, operands[1], stage_) ||
        graph_.type(operands[0]).rank() < 2 || graph_.type(operands[1]).rank() != 2)
      return std::nullopt;
    const auto unary = unary_of(graph_, scaling);
    if (!unary || !graph_.producer_node(unary->operand).is_input() || !plannable(unary->operand) ||
        graph_.type(unary->operand) != graph_.type(root.result()) || gelus_.contains(maker))
      return std::nullopt;
    return Post{addition, std::nullopt, unary->operand, unary->function.alpha, {maker}};
  }

  /// If the results of two heavy kernels are added, the later kernel adds.
  bool left_to_other(ValueId other) const {
    const NodeId maker = graph_.producer(other);
    if (taken_[maker] || graph_.consumers(other).size() != 1 || graph_.is_output(other)) return false;
    if (is_heavy(graph_.node(maker))) return !seen(maker);
    if (stage_ != Stage::Given || graph_.node(maker).is_input() || graph_.node(maker).is_constant()) return false;
    const auto read = graph_.operands(graph_.node(maker));
    if (read.empty() || read[0] == kNoValue) return false;
    const ValueId before = read[0];
    const NodeId conv = graph_.producer(before);
    return graph_.consumers(before).size() == 1 && !graph_.is_output(before) && !seen(conv) &&
           will_fold({conv}, graph_.node(maker));
  }
  /// Groups are made in the order of their roots, so a later heavy root is one that is not yet seen.
  bool seen(NodeId maker) const { return maker <= current_; }

  bool plannable(ValueId value) const { return is_plannable(graph_, value, stage_); }

  const Graph& graph_;
  const Stage stage_;
  std::vector<bool> taken_;
  std::vector<bool> absorbed_;           // whether they are in the group of a later node
  std::map<NodeId, WrittenGelu> gelus_;  // by first node
  NodeId current_ = 0;
};

}  // namespace

bool is_plannable(const Graph& graph, ValueId value) {
  const TensorType& type = graph.type(value);
  return type.dtype == DType::Float && type.shape && concrete(*type.shape);
}

bool may_be_plannable(const Graph& graph, ValueId value) {
  const TensorType& type = graph.type(value);
  return type.dtype == DType::Float && type.shape.has_value();
}

std::optional<Eltwise> eltwise_of(const Graph& graph, const Node& node, ValueId operand) {
  if (!is_standard(node) || node.num_results != 1 || !may_be_plannable(graph, operand)) return std::nullopt;
  const std::string_view name = node.op->name;
  const auto operands = graph.operands(node);
  if (const Eltwise* const simple = simple_functions().find(*node.op)) return *simple;
  if (name == "LeakyRelu") return Eltwise{algorithm::eltwise_relu, node.attrs.real("alpha"), 0};
  if (name == "Swish") return Eltwise{algorithm::eltwise_swish, node.attrs.real("alpha"), 0};
  if (name == "Elu") return Eltwise{algorithm::eltwise_elu, node.attrs.real("alpha"), 0};
  if (name == "Clip") {
    const float max = bound(node, "max", kInfinity);  // also the result if the minimum is larger
    return Eltwise{algorithm::eltwise_clip, std::min(bound(node, "min", -kInfinity), max), max};
  }
  if (name == "Gelu") {
    const bool tanh = node.attrs.text("approximate") == "tanh";
    return Eltwise{tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf};
  }
  if (operands.size() != 2 || operands[0] == operands[1]) return std::nullopt;
  const bool first = operands[0] == operand;
  const auto c = scalar(graph, first ? operands[1] : operands[0]);
  if (!c || graph.type(node.result()) != graph.type(operand)) return std::nullopt;
  return arithmetic(name, *c, first);
}

bool preserves_zero(const Eltwise& function) {
  switch (function.algorithm) {
    case algorithm::eltwise_clip:
      return function.alpha <= 0 && function.beta >= 0;
    case algorithm::eltwise_linear:
      return function.beta == 0;
    case algorithm::eltwise_pow:
      return function.beta > 0;
    case algorithm::eltwise_logistic:
    case algorithm::eltwise_exp:
    case algorithm::eltwise_log:
    case algorithm::eltwise_soft_relu:
    case algorithm::eltwise_mish:
      return false;
    default:
      return true;
  }
}

std::optional<Unary> unary_of(const Graph& graph, const Node& node) {
  for (const ValueId operand : graph.operands(node)) {
    if (operand == kNoValue || graph.constant(operand) != nullptr) continue;
    if (const auto function = eltwise_of(graph, node, operand)) return Unary{operand, *function};
    return std::nullopt;
  }
  return std::nullopt;
}

bool is_plannable(const Graph& graph, ValueId value, Stage stage) {
  return stage == Stage::Canonical ? is_plannable(graph, value) : may_be_plannable(graph, value);
}

bool is_known(const Graph& graph, ValueId value, Stage stage) {
  return stage == Stage::Canonical ? graph.constant(value) != nullptr : graph.is_constant_derived(value);
}

bool is_folded(const Post& post) { return post.function && post.function->algorithm == dnnl::algorithm::undef; }

std::vector<NodeId> nodes_of(const Group& group) {
  std::vector<NodeId> nodes = group.inner;
  nodes.push_back(group.root);
  for (const Post& post : group.posts) {
    nodes.insert(nodes.end(), post.inner.begin(), post.inner.end());
    nodes.push_back(post.node);
  }
  return nodes;
}

std::vector<Group> fuse(const Graph& graph, Stage stage, bool loops) {
  std::vector<Group> groups = with_loss_gradients(graph, with_max_pool_gradients(graph, Fuser(graph, stage).run()));
  return loops ? with_loops(graph, std::move(groups)) : groups;
}

std::vector<size_t> last_readers(const Graph& graph, std::span<const Group> groups) {
  std::vector<size_t> last(graph.num_values(), 0);
  const auto read = [&](NodeId node, size_t group) {
    for (const ValueId operand : graph.operands(graph.node(node)))
      if (operand != kNoValue) last[operand] = group;
    // It reads what its transpositions read.
    if (const auto filters = filter_gradient(graph, graph.node(node)))
      last[filters->image] = last[filters->gradient] = group;
  };
  for (size_t g = 0; g < groups.size(); ++g)
    for (const NodeId node : nodes_of(groups[g])) read(node, g);
  for (const ValueId output : graph.outputs()) last[output] = kReadAtEnd;
  return last;
}

bool is_named(const Node& node, std::string_view name) {
  return node.op->name == name && !node.is_input() && !node.is_constant() && is_standard(node);
}

const Node* inner_maker(const Graph& graph, ValueId value, std::string_view name) {
  const Node& node = graph.producer_node(value);
  const bool is_inner = graph.consumers(value).size() == 1 && !graph.is_output(value);
  return is_inner && is_named(node, name) ? &node : nullptr;
}

bool are_zeros(const Graph& graph, ValueId value) {
  const Node& node = graph.producer_node(value);
  const bool is_filled = is_named(node, "ConstantOfShape") && node.attrs.has("value");
  const Tensor* const data = is_filled ? &node.attrs.tensor("value") : graph.constant(value);
  return data != nullptr && data->dtype() == DType::Float &&
         std::ranges::all_of(data->data<float>(), [](float number) { return number == 0; });
}

}  // namespace isomer::onednn
