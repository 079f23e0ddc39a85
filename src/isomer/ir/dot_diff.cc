#include "isomer/ir/dot_diff.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "isomer/ir/dot.h"

namespace isomer {
namespace {

/// One of the two graphs, and how to draw it.
struct Side {
  const Graph& graph;
  const std::vector<uint32_t>& region;
  const std::vector<NodeId>& partner;
  std::string title;
  std::string prefix;      // of the ids of nodes
  std::string fill, line;  // colors of changes
  std::vector<bool> drawn = {};
};

/// The run-time nodes that a node reads, in order. A node that is read twice is listed twice.
std::vector<NodeId> sources(const Graph& graph, NodeId node) {
  std::vector<NodeId> out;
  for (const ValueId operand : graph.operands(graph.node(node)))
    if (operand != kNoValue && is_at_run_time(graph, graph.producer_node(operand)))
      out.push_back(graph.producer(operand));
  return out;
}

/// Marks the changed nodes and those up to `hops` edges away.
void mark_near(Side& side, const DotDiffOptions& options) {
  const Graph& graph = side.graph;
  const size_t size = graph.nodes().size();
  side.drawn.assign(size, false);
  for (NodeId id = 0; id < size; ++id)
    side.drawn[id] = is_at_run_time(graph, graph.node(id)) && (options.all || side.region[id] != kUnchanged);
  for (int hop = 0; hop < options.hops && !options.all; ++hop) {
    std::vector<bool> next = side.drawn;
    for (NodeId id = 0; id < size; ++id) {
      if (!is_at_run_time(graph, graph.node(id))) continue;
      for (const NodeId source : sources(graph, id)) {
        if (side.drawn[id]) next[source] = true;
        if (side.drawn[source]) next[id] = true;
      }
    }
    side.drawn = std::move(next);
  }
}

/// Draws the partners of all nodes that the other side draws.
void mark_partners(const Side& from, Side& to) {
  for (NodeId id = 0; id < from.drawn.size(); ++id)
    if (from.drawn[id] && from.partner[id] != kNoNode) to.drawn[from.partner[id]] = true;
}

/// Groups the nodes that are not drawn. Returns for each node the first node of its group. The members of a group are
/// connected and have the same number of drawn nodes on their longest path from the inputs, so no path leads out of a
/// group and back.
std::vector<NodeId> groups_of(const Side& side) {
  const Graph& graph = side.graph;
  const size_t size = graph.nodes().size();
  std::vector<uint32_t> depth(size, 0);
  std::vector<NodeId> first(size);
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](NodeId id) {
    while (first[id] != id) id = first[id] = first[first[id]];
    return id;
  };
  for (NodeId id = 0; id < size; ++id) {
    if (!is_at_run_time(graph, graph.node(id))) continue;
    const std::vector<NodeId> from = sources(graph, id);
    for (const NodeId source : from) depth[id] = std::max(depth[id], depth[source] + (side.drawn[source] ? 1 : 0));
    if (side.drawn[id]) continue;
    for (const NodeId source : from) {
      if (side.drawn[source] || depth[source] != depth[id]) continue;
      const auto [low, high] = std::minmax({root(source), root(id)});
      first[high] = low;
    }
  }
  for (NodeId id = 0; id < size; ++id) first[id] = root(id);
  return first;
}

/// The types of a node's weights, "weights f32[8,4], f32[8]"; empty if it has none.
std::string weights_line(const Graph& graph, NodeId node) {
  std::string out;
  for (const ValueId operand : graph.operands(graph.node(node)))
    if (operand != kNoValue && graph.is_constant_derived(operand))
      out += (out.empty() ? "weights " : ", ") + graph.type(operand).str();
  return out;
}

size_t operators_of(const Graph& graph) {
  return static_cast<size_t>(std::ranges::count_if(
      graph.nodes(), [&](const Node& node) { return !node.is_input() && is_at_run_time(graph, node); }));
}

/// Writes one of the two graphs.
class SideWriter {
 public:
  explicit SideWriter(Side& side) : side_(side), first_(groups_of(side)) {
    for (NodeId id = 0; id < first_.size(); ++id)
      if (hidden(id)) ++members_[first_[id]];
    // A group of a single node is drawn as that node.
    for (NodeId id = 0; id < first_.size(); ++id)
      if (hidden(id) && members_[first_[id]] == 1) side_.drawn[id] = true;
  }

  std::string text() {
    out_ = fmt::format("  subgraph cluster_{} {{\n    label={};\n    style=rounded; color=gray;\n", side_.prefix,
                       dot_string(side_.title + fmt::format(": {} operators", operators_of(side_.graph))));
    write_nodes();
    write_edges();
    write_outputs();
    return out_ + "  }\n";
  }

 private:
  bool hidden(NodeId id) const { return !side_.drawn[id] && is_at_run_time(side_.graph, side_.graph.node(id)); }
  /// The id of a node, or of its group, in the picture.
  std::string id_of(NodeId id) const {
    return fmt::format("{}{}{}", side_.prefix, side_.drawn[id] ? "" : "g", side_.drawn[id] ? id : first_[id]);
  }

  void write_nodes() {
    std::map<uint32_t, std::string> regions;
    for (NodeId id = 0; id < side_.drawn.size(); ++id) {
      if (hidden(id) && first_[id] == id)
        out_ += fmt::format("    {} [style=dashed, label=\"{} nodes\"];\n", id_of(id), members_[id]);
      if (!side_.drawn[id]) continue;
      if (side_.region[id] == kUnchanged) {
        out_ += "    " + dot_node(side_.graph, id, id_of(id));
        continue;
      }
      const std::string style = fmt::format("style=filled, fillcolor=\"{}\", color=\"{}\"", side_.fill, side_.line);
      regions[side_.region[id]] +=
          "      " + dot_node(side_.graph, id, id_of(id), weights_line(side_.graph, id), style);
    }
    for (const auto& [region, nodes] : regions) {
      out_ += fmt::format(
          "    subgraph cluster_{}_{} {{\n      label=\"{}\"; labeljust=l; style=rounded; color=\"{}\"; "
          "fontcolor=\"{}\";\n{}    "
          "}}\n",
          side_.prefix, region, region + 1, side_.line, side_.line, nodes);
    }
  }

  void write_edges() {
    std::set<std::pair<std::string, std::string>> of_groups;  // each edge between groups once
    for (NodeId id = 0; id < side_.drawn.size(); ++id) {
      if (!is_at_run_time(side_.graph, side_.graph.node(id))) continue;
      for (const NodeId source : sources(side_.graph, id)) {
        const std::string from = id_of(source);
        const std::string to = id_of(id);
        if (from == to) continue;
        if ((hidden(source) || hidden(id)) && !of_groups.emplace(from, to).second) continue;
        out_ += fmt::format("    {} -> {};\n", from, to);
      }
    }
  }

  void write_outputs() {
    for (size_t i = 0; i < side_.graph.outputs().size(); ++i) {
      const NodeId producer = side_.graph.producer(side_.graph.outputs()[i]);
      if (hidden(producer)) continue;
      const std::string id = fmt::format("{}o{}", side_.prefix, i);
      out_ += "    " + dot_output(side_.graph, i, id);
      out_ += fmt::format("    {} -> {};\n", id_of(producer), id);
    }
  }

  Side& side_;
  const std::vector<NodeId> first_;
  std::map<NodeId, size_t> members_;  // by first node of the group
  std::string out_;
};

}  // namespace

std::string dot_diff(const Graph& before, const Graph& after, const GraphDiff& diff, const DotDiffOptions& options) {
  Side a{.graph = before,
         .region = diff.region_before,
         .partner = diff.alignment.to_after,
         .title = "before",
         .prefix = "a",
         .fill = "#fadbd8",
         .line = "#b03a2e"};
  Side b{.graph = after,
         .region = diff.region_after,
         .partner = diff.alignment.to_before,
         .title = "after",
         .prefix = "b",
         .fill = "#d5f0d9",
         .line = "#1e7e34"};
  mark_near(a, options);
  mark_near(b, options);
  const Side near_before = a;
  mark_partners(b, a);
  mark_partners(near_before, b);
  return "digraph {\n  fontname=\"sans-serif\";\n  node [shape=box, fontname=\"sans-serif\", fontsize=11];\n" +
         SideWriter(a).text() + SideWriter(b).text() + "}\n";
}

}  // namespace isomer
