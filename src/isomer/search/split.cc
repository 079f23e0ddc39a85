#include "isomer/search/split.h"

#include <algorithm>
#include <limits>
#include <map>

#include "isomer/base/hash.h"
#include "isomer/search/part.h"
#include "isomer/search/segments.h"
#include "isomer/search/vertex_cut.h"

namespace isomer {
namespace {

/// Returns the capacity of every node. Every node of a pattern has an operand in the pattern, so for an edge into a
/// node and an edge out of it, only the latter needs a check.
std::vector<int64_t> capacities(const Graph& graph, std::span<const Match> matches, Capacity capacity) {
  std::vector<int64_t> out(graph.nodes().size(), 0);
  for (const Match& match : matches) {
    if (capacity == Capacity::At) {
      for (const NodeId id : match.nodes) ++out[id];
      continue;
    }
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

class Splitter {
 public:
  Splitter(const Graph& graph, std::span<const Match> matches, size_t threshold, const Deadline& deadline,
           Capacity capacity)
      : graph_(graph),
        capacity_(capacities(graph, matches, capacity)),
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
    VertexCut cut = minimum_vertex_cut(graph_, nodes, capacity_);
    Segments repeated(graph_, nodes);
    for (const std::vector<NodeId>& copy : copies(nodes, cut.after)) repeated.cut(copy);
    if (repeated.size() > 1) return repeated.join(threshold_, out_.cuts);
    out_.cuts.insert(out_.cuts.end(), cut.after.begin(), cut.after.end());
    return {std::move(cut.above), std::move(cut.below)};
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

Split split_graph(const Graph& graph, std::span<const Match> matches, size_t threshold, const Deadline& deadline,
                  Capacity capacity) {
  return Splitter(graph, matches, std::max<size_t>(threshold, 1), deadline, capacity).run();
}

}  // namespace isomer
