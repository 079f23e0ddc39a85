#include "isomer/engine/onednn_planner.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "isomer/runtime/onednn/fusion.h"

namespace isomer {
namespace {

using onednn::Group;
using onednn::Post;

template <size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& names) {
  return !node.is_opaque() && node.op->domain.empty() && std::ranges::find(names, node.op->name) != names.end();
}

bool is(const Node& node, std::string_view name) {
  return !node.is_opaque() && node.op->domain.empty() && node.op->name == name;
}

/// They only tell where elements lie, of values in row-major order.
bool is_shaping(const Node& node) {
  return is_one_of<6>(node, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice"}) || is(node, "Split");
}
bool is_removed(const Node& node) { return is(node, "Identity") || (is(node, "Dropout") && node.num_results == 1); }
bool is_pool(const Node& node) {
  return node.num_results == 1 && is_one_of<4>(node, {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"});
}
/// They work in any layout.
bool is_elementwise(const Graph& graph, const Node& node) {
  return is_one_of<8>(node, {"Add", "Sum", "Sub", "Mul", "Div", "Max", "Min", "BatchNormalization"}) ||
         onednn::unary_of(graph, node).has_value();
}

class Planning {
 public:
  Planning(const Graph& graph, int64_t block) : graph_(graph), block_(block) {
    plan_.layouts.assign(graph.num_values(), Layout::Plain);
    plan_.intakes.assign(graph.nodes().size(), Intake::Own);
    plan_.begins = {0};
    plan_.block = block;
    plan_.copies_outputs = true;
    wants_.assign(graph.num_values(), {});
    strided_.resize(graph.num_values());
  }

  KernelPlan run(const Boundary& boundary) {
    for (size_t i = 0; i < boundary.inputs.size() && i < graph_.inputs().size(); ++i)
      plan_.layouts[graph_.inputs()[i]] = boundary.inputs[i];
    for (const Group& group : onednn::fuse_ahead(graph_)) {
      const Node& last = graph_.node(group.last());
      if (last.num_results == 0 || !graph_.is_weight(last.result())) place(group);
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      want(graph_.outputs()[i], i < boundary.outputs.size() ? boundary.outputs[i] : Layout::Plain);
    for (ValueId value = 0; value < wants_.size(); ++value)
      for (const Layout layout : {Layout::Plain, Layout::Blocked})
        if (wants_[value][static_cast<size_t>(layout)] && plan_.layouts[value] != layout && !lies_alike(value))
          plan_.reorders.push_back({value, layout});
    return std::move(plan_);
  }

 private:
  void place(const Group& group) {
    const Node& root = graph_.node(group.root);
    if (is_removed(root) || is_shaping(root)) return place_view(group.root);
    if (is(root, "Concat")) return place_concat(group);
    if (is(root, "Conv") && fits_blocks(root.result())) return place_conv(group);
    if (is_pool(root) || is_elementwise(graph_, root)) return place_follower(group);
    place_kernel(group, Layout::Plain, Layout::Plain);
  }

  void want(ValueId value, Layout layout) { wants_[value][static_cast<size_t>(layout)] = true; }
  Layout layout(ValueId value) const { return plan_.layouts[value]; }
  bool computed(ValueId value) const { return value != kNoValue && !graph_.is_weight(value); }

  /// f32 of the ranks that layouts in blocks have, with a known number of channels.
  bool fits_blocks(ValueId value) const {
    const size_t rank = graph_.type(value).shape ? graph_.type(value).rank() : 0;
    return onednn::may_be_plannable(graph_, value) && rank >= 3 && rank <= 5 &&
           (*graph_.type(value).shape)[1].is_const();
  }
  /// Whether blocks of channels, with no extent behind them, lie in row-major order.
  bool lies_alike(ValueId value) const {
    if (!fits_blocks(value)) return false;
    const Shape& extents = *graph_.type(value).shape;
    if (channels(value) % block_ != 0 && !extents[0].is(1)) return false;
    return std::all_of(extents.begin() + 2, extents.end(), [](const auto& extent) { return extent.is(1); });
  }
  int64_t channels(ValueId value) const { return (*graph_.type(value).shape)[1].value(); }

  /// A kernel of all nodes of a group, which reads in one layout (operands that broadcast stay as they are) and writes
  /// in another.
  void place_kernel(const Group& group, Layout in, Layout out) {
    std::vector<NodeId> nodes = {group.root};
    for (const Post& post : group.posts) {
      nodes.insert(nodes.end(), post.inner.begin(), post.inner.end());
      nodes.push_back(post.node);
    }
    std::vector<NodeId> absorbed;
    for (const NodeId id : nodes) {
      const Node& node = graph_.node(id);
      for (const ValueId operand : graph_.operands(node)) {
        if (!computed(operand) || std::ranges::find(nodes, graph_.producer(operand)) != nodes.end()) continue;
        const Layout wanted = id == group.root ? in : out;
        const bool whole = wanted == Layout::Plain || graph_.type(operand).rank() == graph_.type(node.result()).rank();
        if (whole && wanted == Layout::Blocked) plan_.intakes[id] = Intake::Blocked;
        if (wanted == Layout::Plain && !strided_[operand].empty()) {
          absorbed.insert(absorbed.end(), strided_[operand].begin(), strided_[operand].end());
        } else if (whole) {
          want(operand, wanted);
        }
      }
      for (uint32_t i = 0; i < node.num_results; ++i) plan_.layouts[node.result(i)] = out;
    }
    nodes.insert(nodes.end(), absorbed.begin(), absorbed.end());
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    plan_.nodes.insert(plan_.nodes.end(), nodes.begin(), nodes.end());
    plan_.begins.push_back(static_cast<uint32_t>(plan_.nodes.size()));
  }

  /// Images of a few channels are read as they are.
  void place_conv(const Group& group) {
    const ValueId x = graph_.operands(graph_.node(group.root))[0];
    place_kernel(group, fits_blocks(x) && channels(x) < 4 ? Layout::Plain : Layout::Blocked, Layout::Blocked);
  }

  /// It works in the layout of its operands: in blocks where one arrives so.
  void place_follower(const Group& group) {
    const Node& root = graph_.node(group.root);
    bool blocked = false;
    for (const ValueId operand : graph_.operands(root))
      blocked = blocked || (computed(operand) && layout(operand) == Layout::Blocked);
    const Layout layout = blocked && fits_blocks(root.result()) ? Layout::Blocked : Layout::Plain;
    place_kernel(group, layout, layout);
  }

  void place_view(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId x = graph_.operands(node)[0];
    const bool stays = is_removed(node);
    const bool strides = !stays && makes_strides(node);
    // Other extents for what does not lie in one piece: it is copied.
    if (!stays && !strides && !strided_[x].empty()) return place_kernel({id}, Layout::Plain, Layout::Plain);
    if (!stays) want(x, Layout::Plain);
    for (uint32_t i = 0; i < node.num_results; ++i) {
      plan_.layouts[node.result(i)] = stays ? layout(x) : Layout::Plain;
      strided_[node.result(i)] = strided_[x];
      if (strides) strided_[node.result(i)].push_back(id);
    }
  }

  /// Whether the product of two computed operands writes a value in the order of the transposition that alone reads it.
  bool written_in_order(ValueId value) const {
    const Node& maker = graph_.producer_node(value);
    if (!is(maker, "MatMul") || graph_.consumers(value).size() != 1 || graph_.is_output(value)) return false;
    const auto operands = graph_.operands(maker);
    return computed(operands[0]) && computed(operands[1]);
  }

  /// Whether the results of a view do not lie in one piece, in row-major order.
  bool makes_strides(const Node& node) const {
    if (is(node, "Transpose")) return !written_in_order(graph_.operands(node)[0]);
    if (!is(node, "Split") && !is(node, "Slice")) return false;
    const ValueId x = graph_.operands(node)[0];
    if (!onednn::may_be_plannable(graph_, x)) return false;
    const Shape& whole = *graph_.type(x).shape;
    const Shape& part = *graph_.type(node.result()).shape;
    bool ones = true;  // all extents before this axis
    for (size_t axis = 0; axis < whole.size(); ++axis) {
      if (part[axis] != whole[axis] && !ones) return true;
      ones = ones && whole[axis].is(1);
    }
    return false;
  }

  /// Operands are made, or brought into another layout, in their places: nothing is left to do.
  void place_concat(const Group& group) {
    const Node& node = graph_.node(group.root);
    const auto operands = graph_.operands(node);
    const auto whole_blocks = [&](ValueId v) { return fits_blocks(v) && channels(v) % block_ == 0; };
    const auto in_blocks = [&](ValueId v) { return computed(v) && layout(v) == Layout::Blocked; };
    const bool blocked = fits_blocks(node.result()) && node.attrs.integer("axis") == 1 &&
                         std::ranges::all_of(operands, whole_blocks) && std::ranges::any_of(operands, in_blocks);
    const Layout layout = blocked ? Layout::Blocked : Layout::Plain;
    if (!in_place(node)) return place_kernel(group, layout, layout);
    for (const ValueId operand : operands)
      if (computed(operand)) want(operand, layout);
    plan_.layouts[node.result()] = layout;
  }

  bool in_place(const Node& concat) const {
    if (!onednn::may_be_plannable(graph_, concat.result())) return false;
    const Shape& extents = *graph_.type(concat.result()).shape;
    const auto axis = concat.attrs.integer("axis");
    return std::all_of(extents.begin(), extents.begin() + axis, [](const auto& extent) { return extent.is(1); });
  }

  const Graph& graph_;
  const int64_t block_;
  KernelPlan plan_;
  std::vector<std::array<bool, 2>> wants_;    // by value and layout
  std::vector<std::vector<NodeId>> strided_;  // by value: views that make it of what lies in one piece
};

}  // namespace

KernelPlan OnednnPlanner::plan(const Graph& graph, const Boundary& boundary) const {
  return Planning(graph, block_).run(boundary);
}

}  // namespace isomer
