#include "isomer/search/checkpoints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "isomer/plan/recomputation.h"

namespace isomer {
namespace {

/// Finds the cuts of the first nodes of a graph, for more and more nodes.
class Cuts {
 public:
  explicit Cuts(const Graph& graph) : graph_(graph), last_(graph.num_values()) {
    for (ValueId value = 0; value < graph.num_values(); ++value) last_[value] = graph.producer(value);
  }

  void add(NodeId id) {
    for (const ValueId operand : graph_.operands(graph_.node(id)))
      if (operand != kNoValue) last_[operand] = id;
    end_ = id + 1;
  }

  /// Returns the cuts of the nodes that were added.
  const std::vector<ValueId>& find() {
    cuts_.clear();
    ends_.assign(end_, {});
    Live live;
    for (NodeId id = 0; id < end_; ++id) {
      const Node& node = graph_.node(id);
      live -= ends_[id];
      if (!graph_.runs(node)) continue;
      for (ValueId value = node.first_result; value < node.first_result + node.num_results; ++value) {
        if (last_[value] == id || graph_.is_weight(value)) continue;
        live += Live{1, value};
        ends_[last_[value]] += Live{1, value};
      }
      if (live.count == 1 && (cuts_.empty() || cuts_.back() != live.sum))
        cuts_.push_back(static_cast<ValueId>(live.sum));
    }
    return cuts_;
  }

 private:
  /// A set of values; if it is a single one, the sum is that.
  struct Live {
    int64_t count = 0;
    uint64_t sum = 0;
    void operator+=(const Live& more) { count += more.count, sum += more.sum; }
    void operator-=(const Live& less) { count -= less.count, sum -= less.sum; }
  };
  const Graph& graph_;
  std::vector<NodeId> last_;  // by value: the last of the nodes that reads it
  NodeId end_ = 0;
  std::vector<ValueId> cuts_ = {};
  std::vector<Live> ends_ = {};  // by node: the values that it reads last
};

/// Decides that of the nodes below `end` all values are computed twice that are read later or for those that are,
/// except for those to keep.
Candidate with_kept(const Candidate& candidate, NodeId end, const std::vector<bool>& kept) {
  const Graph& graph = candidate.graph;
  Candidate out = candidate;
  std::vector<bool> needed(graph.num_values(), false);
  // Readers have higher ids than what they read.
  for (NodeId id = end; id-- > 0;) {
    const Node& node = graph.node(id);
    bool is_needed = false;
    for (ValueId value = node.first_result; value < node.first_result + node.num_results; ++value) {
      const bool late = std::ranges::any_of(graph.consumers(value), [&](NodeId reader) { return reader >= end; });
      if (!(needed[value] || late) || kept[value] || !is_recomputable(graph, value)) continue;
      const auto decision = out.decisions.computations.emplace(value, Computation::Twice).first;
      if (decision->second == Computation::Twice) is_needed = true;
    }
    if (!is_needed) continue;
    for (const ValueId operand : graph.operands(node))
      if (operand != kNoValue) needed[operand] = true;
  }
  return out;
}

}  // namespace

std::vector<ValueId> checkpoints(const Graph& graph) {
  Cuts cuts(graph);
  std::vector<ValueId> out;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    cuts.add(id);
    if (!graph.runs(graph.node(id))) continue;
    if (const std::vector<ValueId>& found = cuts.find(); found.size() >= out.size()) out = found;
  }
  return out;
}

std::vector<Candidate> with_checkpoints(const Candidate& candidate,
                                        const std::function<double(const Candidate&)>& bytes) {
  const std::vector<ValueId> cuts = checkpoints(candidate.graph);
  if (cuts.size() < 2) return {};
  std::set<size_t> distances{static_cast<size_t>(std::lround(std::sqrt(cuts.size())))};
  for (size_t distance = 1; 2 * distance <= cuts.size(); distance *= 2) distances.insert(distance);
  const auto keeping = [&](size_t first, size_t distance) {
    std::vector<bool> kept(candidate.graph.num_values(), false);
    for (size_t i = first; i < cuts.size(); i += distance) kept[cuts[i]] = true;
    kept[cuts.back()] = true;
    return with_kept(candidate, candidate.graph.producer(cuts.back()) + 1, kept);
  };
  std::vector<Candidate> out;
  for (const size_t distance : distances) {
    const auto changes = [&](const Candidate& made) { return made.decisions != candidate.decisions; };
    Candidate even = keeping(0, distance);
    double least = changes(even) ? bytes(even) : std::numeric_limits<double>::infinity();
    std::optional<Candidate> smaller;
    constexpr size_t kMaxBegins = 8;
    const size_t begins = std::min(distance, kMaxBegins);
    for (size_t i = 1; i < begins; ++i) {
      Candidate next = keeping(i * distance / begins, distance);
      if (!changes(next)) continue;
      if (const double needed = bytes(next); needed < least) {
        least = needed;
        smaller = std::move(next);
      }
    }
    if (changes(even)) out.push_back(std::move(even));
    if (smaller) out.push_back(std::move(*smaller));
  }
  return out;
}

}  // namespace isomer
