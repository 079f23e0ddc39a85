#include "isomer/search/vertex_cut.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <optional>

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
/// Weight of a capacity relative to a node: of cuts with equal capacity, the one after fewer nodes is chosen.
constexpr int64_t kCapacity = 1 << 12;

/// The cut as a maximum flow. Every node is an edge from its entry to its exit.
class FlowNetwork {
 public:
  FlowNetwork(const Graph& graph, const std::vector<NodeId>& nodes, std::span<const int64_t> capacity)
      : graph_(graph), nodes_(nodes), network_(2 * nodes.size() + 2) {
    const size_t n = nodes.size();
    const size_t forced = std::max<size_t>(1, n / 4);
    for (size_t i = 0; i < n; ++i) {
      connect(entry(i), exit(i), kCapacity * capacity[nodes[i]] + 1, 0);
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

}  // namespace

VertexCut minimum_vertex_cut(const Graph& graph, const std::vector<NodeId>& nodes, std::span<const int64_t> capacity) {
  const FlowNetwork network(graph, nodes, capacity);
  VertexCut out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    (network.upper(i) ? out.above : out.below).push_back(nodes[i]);
    if (network.cut(i)) out.after.push_back(nodes[i]);
  }
  return out;
}

}  // namespace isomer
