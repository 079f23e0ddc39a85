#include "isomer/search/split.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <limits>
#include <map>

#include "isomer/base/hash.h"
#include "isomer/search/part.h"

namespace isomer {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, int64_t,
                    boost::property<boost::edge_residual_capacity_t, int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

/// Larger than any sum of capacities, and far from overflow.
constexpr int64_t kUncuttable = int64_t{1} << 40;
/// Weight of a match relative to a node: of cuts with equal capacity, the one after fewer nodes is chosen.
constexpr int64_t kMatch = 1 << 12;

/// Returns for every node the number of matches that map an edge into it and an edge out of it. Every node of a pattern
/// has an operand in the pattern, so only the edge out of it needs a check.
std::vector<int64_t> capacities(const Graph& graph, std::span<const Match> matches) {
  std::vector<int64_t> out(graph.nodes().size(), 0);
  for (const Match& match : matches) {
    std::vector<NodeId> read;
    for (const NodeId id : match.nodes)
      for (const ValueId operand : graph.operands(graph.node(id)))
        if (operand != kNoValue) read.push_back(graph.producer(operand));
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const NodeId id : read)
      if (std::binary_search(match.nodes.begin(), match.nodes.end(), id)) ++out[id];
  }
  return out;
}

/// The minimum vertex cut of some nodes as a flow network. Every node is an edge from its entry to its exit.
class VertexCut {
 public:
  VertexCut(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<int64_t>& capacity)
      : graph_(graph), nodes_(nodes), network_(2 * nodes.size() + 2) {
    const size_t n = nodes.size();
    const size_t forced = std::max<size_t>(1, n / 4);
    for (size_t i = 0; i < n; ++i) {
      connect(entry(i), exit(i), kMatch * capacity[nodes[i]] + 1, 0);
      // The operands of a node on the upper side are on the upper side too.
      for (const ValueId operand : graph.operands(graph.node(nodes[i])))
        if (const auto j = index(operand))
          connect(exit(*j), entry(i), kUncuttable, 0), connect(entry(i), entry(*j), kUncuttable, 0);
      if (i < forced) connect(source(), entry(i), kUncuttable, 0);
      if (i >= n - forced) connect(entry(i), sink(), kUncuttable, 0);
    }
    boost::push_relabel_max_flow(network_, source(), sink());
    reach();
  }

  /// Whether the i-th node is on the upper side, and whether the cut is directly after it.
  bool upper(size_t i) const { return reached_[entry(i)]; }
  bool cut(size_t i) const { return upper(i) && !reached_[exit(i)]; }

 private:
  using Vertex = Traits::vertex_descriptor;
  Vertex entry(size_t i) const { return 2 * i; }
  Vertex exit(size_t i) const { return 2 * i + 1; }
  Vertex source() const { return 2 * nodes_.size(); }
  Vertex sink() const { return 2 * nodes_.size() + 1; }

  std::optional<size_t> index(ValueId operand) const {
    if (operand == kNoValue) return std::nullopt;
    const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), graph_.producer(operand));
    if (found == nodes_.end() || *found != graph_.producer(operand)) return std::nullopt;
    return static_cast<size_t>(found - nodes_.begin());
  }

  void connect(Vertex from, Vertex to, int64_t forward, int64_t backward) {
    const auto there = boost::add_edge(from, to, network_).first;
    const auto back = boost::add_edge(to, from, network_).first;
    boost::put(boost::edge_capacity, network_, there, forward);
    boost::put(boost::edge_capacity, network_, back, backward);
    boost::put(boost::edge_reverse, network_, there, back);
    boost::put(boost::edge_reverse, network_, back, there);
  }

  void reach() {
    reached_.assign(boost::num_vertices(network_), false);
    std::vector<Vertex> pending{source()};
    reached_[source()] = true;
    while (!pending.empty()) {
      const Vertex vertex = pending.back();
      pending.pop_back();
      for (auto [edge, end] = boost::out_edges(vertex, network_); edge != end; ++edge) {
        const Vertex next = boost::target(*edge, network_);
        if (reached_[next] || boost::get(boost::edge_residual_capacity, network_, *edge) <= 0) continue;
        reached_[next] = true;
        pending.push_back(next);
      }
    }
  }

  const Graph& graph_;
  const std::vector<NodeId>& nodes_;
  Network network_;
  std::vector<bool> reached_;
};

/// Returns for every node a hash of what surrounds it, up to a distance of a few operators. Elements of constants do
/// not count, so nodes at the same place of repeated blocks have equal hashes.
std::vector<uint64_t> surroundings(const Graph& graph) {
  constexpr int kDistance = 3;
  const size_t n = graph.nodes().size();
  std::vector<uint64_t> hashes;
  for (const Node& node : graph.nodes()) {
    uint64_t hash = hash_mix(node.op->hash(), node.is_constant() ? 0 : node.attrs.hash());
    for (uint32_t r = 0; r < node.num_results; ++r) hash = hash_mix(hash, graph.type(node.result(r)).hash());
    hashes.push_back(hash);
  }
  for (int distance = 0; distance < kDistance; ++distance) {
    std::vector<uint64_t> wider = hashes;
    for (NodeId id = 0; id < n; ++id) {
      const Node& node = graph.node(id);
      if (!graph.runs(node)) continue;
      for (const ValueId operand : graph.operands(node))
        if (operand != kNoValue) wider[id] = hash_mix(wider[id], hashes[graph.producer(operand)]);
      uint64_t readers = 0;  // a sum, because their order says nothing
      for (uint32_t r = 0; r < node.num_results; ++r)
        for (const NodeId reader : graph.consumers(node.result(r))) readers += hash_mix(r, hashes[reader]);
      wider[id] = hash_mix(wider[id], readers);
    }
    hashes = std::move(wider);
  }
  return hashes;
}

/// Some nodes that are cut into segments, each before the next one.
class Segments {
 public:
  Segments(const Graph& graph, const std::vector<NodeId>& nodes) : graph_(graph), nodes_(nodes) {
    rest_.assign(graph.nodes().size(), false);
    for (const NodeId id : nodes) rest_[id] = true;
  }

  /// Cuts after these nodes (ascending), if that separates everything above them from the rest.
  void cut(const std::vector<NodeId>& after) {
    const std::vector<NodeId> segment = above(after);
    for (const NodeId id : segment) rest_[id] = false;
    std::vector<NodeId> border;
    const auto keep = [&](NodeId id) { return is_read_below(id); };
    std::ranges::copy_if(segment, std::back_inserter(border), keep);
    std::ranges::copy_if(border_, std::back_inserter(border), keep);
    std::ranges::sort(border);
    if (border == after && !segment.empty()) {
      parts_.push_back(segment);
      border_ = after;
      cuts_.push_back(after);
    } else {
      for (const NodeId id : segment) rest_[id] = true;
    }
  }

  /// Joins segments as long as they have at most `threshold` nodes together. Returns them, and adds the cuts between
  /// them to `cuts`.
  std::vector<std::vector<NodeId>> join(size_t threshold, std::vector<NodeId>& cuts) {
    parts_.emplace_back();
    std::ranges::copy_if(nodes_, std::back_inserter(parts_.back()), [&](NodeId id) { return rest_[id]; });
    std::vector<std::vector<NodeId>> joined{std::move(parts_[0])};
    for (size_t i = 1; i < parts_.size(); ++i) {
      std::vector<NodeId>& last = joined.back();
      if (last.size() + parts_[i].size() <= threshold) {
        last.insert(last.end(), parts_[i].begin(), parts_[i].end());
        std::ranges::sort(last);
      } else {
        cuts.insert(cuts.end(), cuts_[i - 1].begin(), cuts_[i - 1].end());
        joined.push_back(std::move(parts_[i]));
      }
    }
    return joined;
  }

  size_t size() const { return parts_.size(); }

 private:
  /// Returns the nodes of the rest that these nodes depend on, and they themselves; ascending.
  std::vector<NodeId> above(const std::vector<NodeId>& below) const {
    std::vector<NodeId> out;
    std::vector<bool> found(rest_.size(), false);
    const auto visit = [&](NodeId id) {
      if (rest_[id] && !found[id]) out.push_back(id);
      found[id] = true;
    };
    for (const NodeId id : below) visit(id);
    for (size_t i = 0; i < out.size(); ++i)
      for (const ValueId operand : graph_.operands(graph_.node(out[i])))
        if (operand != kNoValue) visit(graph_.producer(operand));
    std::ranges::sort(out);
    return out;
  }

  bool is_read_below(NodeId id) const {
    const Node& node = graph_.node(id);
    for (uint32_t r = 0; r < node.num_results; ++r)
      if (std::ranges::any_of(graph_.consumers(node.result(r)), [&](NodeId reader) { return rest_[reader]; }))
        return true;
    return false;
  }

  const Graph& graph_;
  const std::vector<NodeId>& nodes_;
  std::vector<bool> rest_;      // by node: not in a segment yet
  std::vector<NodeId> border_;  // what the rest reads from the segments
  std::vector<std::vector<NodeId>> parts_;
  std::vector<std::vector<NodeId>> cuts_;  // after each part
};

class Splitter {
 public:
  Splitter(const Graph& graph, std::span<const Match> matches, size_t threshold, const Deadline& deadline)
      : graph_(graph),
        capacity_(capacities(graph, matches)),
        surroundings_(surroundings(graph)),
        threshold_(threshold),
        deadline_(deadline) {}

  Split run() {
    split(run_time_nodes(graph_));
    // A node that is read far below is part of several cuts.
    std::ranges::sort(out_.cuts);
    const auto again = std::ranges::unique(out_.cuts);
    out_.cuts.erase(again.begin(), again.end());
    return std::move(out_);
  }

 private:
  void split(std::vector<NodeId> nodes) {
    if (nodes.size() <= threshold_ || nodes.size() < 2 || deadline_.passed()) {
      if (!nodes.empty()) out_.parts.push_back(std::move(nodes));
      return;
    }
    for (std::vector<NodeId>& segment : segments(nodes)) split(std::move(segment));
  }

  /// Returns the two sides of a minimum cut or, if the cut repeats, the segments between all of its copies. Then
  /// repeated blocks become equal parts, of which one is searched.
  std::vector<std::vector<NodeId>> segments(const std::vector<NodeId>& nodes) {
    const VertexCut cut(graph_, nodes, capacity_);
    std::vector<std::vector<NodeId>> sides(2);
    std::vector<NodeId> after;
    for (size_t i = 0; i < nodes.size(); ++i) {
      sides[cut.upper(i) ? 0 : 1].push_back(nodes[i]);
      if (cut.cut(i)) after.push_back(nodes[i]);
    }
    Segments repeated(graph_, nodes);
    for (const std::vector<NodeId>& copy : copies(nodes, after)) repeated.cut(copy);
    if (repeated.size() > 1) return repeated.join(threshold_, out_.cuts);
    out_.cuts.insert(out_.cuts.end(), after.begin(), after.end());
    return sides;
  }

  int64_t capacity(const std::vector<NodeId>& cut) const {
    int64_t sum = 0;
    for (const NodeId id : cut) sum += capacity_[id];
    return sum;
  }

  /// Returns the copies of a cut, itself among them, in the order of the graph. The n-th copy below it has, for each
  /// node of the cut, the n-th node after that with the same surroundings. The capacity must be that of the cut.
  std::vector<std::vector<NodeId>> copies(const std::vector<NodeId>& nodes, const std::vector<NodeId>& cut) const {
    if (cut.empty()) return {};  // the two sides are not connected
    std::map<uint64_t, std::vector<NodeId>> alike;
    for (const NodeId id : cut) alike[surroundings_[id]];
    for (const NodeId id : nodes)
      if (const auto found = alike.find(surroundings_[id]); found != alike.end()) found->second.push_back(id);
    const auto place = [&](NodeId id) {
      const std::vector<NodeId>& all = alike.at(surroundings_[id]);
      return std::ranges::lower_bound(all, id) - all.begin();
    };
    std::ptrdiff_t up = std::numeric_limits<std::ptrdiff_t>::max();
    std::ptrdiff_t down = up;
    for (const NodeId id : cut) {
      const auto number = std::ssize(alike.at(surroundings_[id]));
      up = std::min(up, place(id));
      down = std::min(down, number - 1 - place(id));
    }
    std::vector<std::vector<NodeId>> out;
    for (std::ptrdiff_t shift = -up; shift <= down; ++shift) {
      std::vector<NodeId> copy;
      for (const NodeId id : cut) copy.push_back(alike.at(surroundings_[id])[static_cast<size_t>(place(id) + shift)]);
      std::ranges::sort(copy);
      if (capacity(copy) == capacity(cut)) out.push_back(std::move(copy));
    }
    return out;
  }

  const Graph& graph_;
  const std::vector<int64_t> capacity_;       // by node
  const std::vector<uint64_t> surroundings_;  // by node
  const size_t threshold_;
  const Deadline& deadline_;
  Split out_;
};

}  // namespace

Split split_graph(const Graph& graph, std::span<const Match> matches, size_t threshold, const Deadline& deadline) {
  return Splitter(graph, matches, std::max<size_t>(threshold, 1), deadline).run();
}

}  // namespace isomer
