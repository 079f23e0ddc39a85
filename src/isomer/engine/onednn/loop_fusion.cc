#include "isomer/engine/onednn/loop_fusion.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "isomer/engine/onednn/loop_nodes.h"

namespace isomer::onednn {
namespace {

class LoopFuser {
 public:
  LoopFuser(const Graph& graph, std::vector<Group> groups) : graph_(graph), groups_(std::move(groups)) {}

  std::vector<Group> run() {
    group_of_.assign(graph_.nodes().size(), kNone);
    for (size_t g = 0; g < groups_.size(); ++g)
      for (const NodeId id : nodes_of(groups_[g])) group_of_[id] = g;
    regions_.resize(groups_.size());
    regions_of_.resize(groups_.size());
    // Readers come after what they read, so they are in regions already.
    for (size_t g = groups_.size(); g-- > 0;) place(g);
    return joined();
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  static constexpr size_t kMaxNodes = 64;
  static constexpr size_t kMaxCopies = 4;

  /// A loop that ends with one group, by whose number it is known.
  struct Region {
    std::vector<size_t> groups = {};
    size_t nodes = 0;
    std::vector<ValueId> operands = {};
  };

  ValueId result(size_t g) const { return graph_.node(groups_[g].last()).result(); }

  void place(size_t g) {
    const bool elements = is_elementwise(groups_[g]);
    if (!elements && !node_reduction(graph_, graph_.node(groups_[g].root))) return;
    if (graph_.is_constant_derived(result(g))) return;
    const std::vector<size_t> regions = elements ? readers(g) : std::vector<size_t>();
    const bool joins =
        regions.size() == 1 || (!regions.empty() && regions.size() <= kMaxCopies && is_cheap(groups_[g]));
    if (joins && std::ranges::all_of(regions, [&](size_t to) { return grown(to, g).has_value(); })) {
      for (const size_t to : regions) add(to, g);
    } else {
      add(g, g);
    }
  }

  bool is_elementwise(const Group& group) const {
    if (!group.inner.empty()) return false;
    const auto& shape = graph_.type(graph_.node(group.root).result()).shape;
    const auto joins = [&](NodeId id) {
      return node_steps(graph_, graph_.node(id)) && graph_.type(graph_.node(id).result()).shape == shape;
    };
    return std::ranges::all_of(group.posts, [](const Post& post) { return post.inner.empty(); }) &&
           std::ranges::all_of(nodes_of(group), joins);
  }

  /// Returns whether computing an elementwise group again takes no longer than reading its result: it reads one tensor,
  /// and does little to each element.
  bool is_cheap(const Group& group) const {
    const std::vector<NodeId> nodes = nodes_of(group);
    std::vector<ValueId> whole;
    for (const NodeId id : nodes) {
      const Node& node = graph_.node(id);
      const auto steps = node_steps(graph_, node);
      if (steps->size() > 1 || !is_fast(steps->front().op)) return false;
      for (const ValueId operand : graph_.operands(node))
        if (graph_.type(operand).shape == graph_.type(node.result()).shape &&
            std::ranges::find(nodes, graph_.producer(operand)) == nodes.end() &&
            std::ranges::find(whole, operand) == whole.end())
          whole.push_back(operand);
    }
    return whole.size() <= 1;
  }

  /// Returns the regions that have all readers of a group's result; none if it is also read elsewhere, or if one of
  /// them has other elements.
  std::vector<size_t> readers(size_t g) const {
    const ValueId value = result(g);
    std::vector<size_t> out;
    if (graph_.is_output(value)) return out;
    for (const NodeId reader : graph_.consumers(value)) {
      if (group_of_[reader] == kNone || regions_of_[group_of_[reader]].empty()) return {};
      for (const size_t region : regions_of_[group_of_[reader]]) {
        if (graph_.type(value).shape != graph_.type(loop_domain(graph_, groups_[region])).shape) return {};
        if (std::ranges::find(out, region) == out.end()) out.push_back(region);
      }
    }
    return out;
  }

  /// Returns a region with a group added; nothing if it would be too large.
  std::optional<Region> grown(size_t to, size_t g) const {
    Region region = regions_[to];
    const std::vector<NodeId> nodes = nodes_of(groups_[g]);
    std::erase(region.operands, result(g));
    for (const NodeId id : nodes)
      for (const ValueId operand : graph_.operands(graph_.node(id)))
        if (operand != kNoValue && std::ranges::find(nodes, graph_.producer(operand)) == nodes.end() &&
            std::ranges::find(region.operands, operand) == region.operands.end())
          region.operands.push_back(operand);
    region.groups.push_back(g);
    region.nodes += nodes.size();
    if (to != g && (region.nodes > kMaxNodes || region.operands.size() > kMaxLoopOperands)) return std::nullopt;
    return region;
  }
  void add(size_t to, size_t g) {
    regions_[to] = *grown(to, g);
    regions_of_[g].push_back(to);
  }

  std::vector<Group> joined() {
    std::vector<Group> out;
    for (size_t g = 0; g < groups_.size(); ++g) {
      const Region& region = regions_[g];
      const bool ends_region = region.groups.size() > 1;
      if (!ends_region && (regions_of_[g].empty() || regions_of_[g].front() == g)) {
        out.push_back(groups_[g]);
      } else if (ends_region) {
        Group loop{groups_[g].last()};
        for (const size_t part : region.groups)
          for (const NodeId id : nodes_of(groups_[part]))
            if (id != loop.root) loop.inner.push_back(id);
        std::ranges::sort(loop.inner);
        out.push_back(std::move(loop));
      }
    }
    return out;
  }

  const Graph& graph_;
  const std::vector<Group> groups_;
  std::vector<size_t> group_of_;                 // by node
  std::vector<Region> regions_;                  // by the number of their last group
  std::vector<std::vector<size_t>> regions_of_;  // by group; several if each computes it again
};

}  // namespace

std::vector<Group> with_loops(const Graph& graph, std::vector<Group> groups) {
  return LoopFuser(graph, std::move(groups)).run();
}

}  // namespace isomer::onednn
