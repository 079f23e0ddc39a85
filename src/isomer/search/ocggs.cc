#include "isomer/search/ocggs.h"

#include <algorithm>
#include <queue>

#include "isomer/search/commutation.h"

// Graphs are expanded in the order in which they are reached, and the matches of each graph in their order. So a graph
// is first reached by the least of its shortest sequences: the one that comes first if sequences are compared match by
// match. Let that sequence end with the substitutions a, b, and let b also match before a (in the graph G).
//
// b is *asleep* after a, and not applied, if a and b commute, and
// - b comes before a among the matches of G, and the graph to which it leads was kept; or
// - b is asleep in G, because of a substitution before a, and leads to a graph that is kept.
// In both cases a lesser sequence of the same length leads to the same graph: it has b before a, or even earlier. So
// the least of the shortest sequences to a graph never has a substitution that is asleep, and nothing is lost. Whether
// a graph is kept is not known in the second case. It certainly is if no graph was refused so far: all graphs that the
// same number of substitutions leads to have been reached when a's graph is expanded.
//
// These are the sleep sets of partial-order reduction (Godefroid, 1996).

namespace isomer {
namespace {

/// A graph that was expanded. Every node of this search is one.
struct OrderedNode : SearchNode {
  std::vector<bool> asleep = {};
  /// By match. Those of applied matches are known if the graph has successors that are expanded; those of matches that
  /// are asleep are computed when they are needed.
  mutable std::vector<std::optional<Footprint>> footprints = {};
};

const OrderedNode& ordered(const SearchNode& node) { return static_cast<const OrderedNode&>(node); }

class OrderedSearch {
 public:
  OrderedSearch(bool reuse, std::span<const Rule> rules, const CandidateCost& cost, const SequenceOptions& options)
      : reuse_(reuse), options_(options), graphs_(reuse ? "dpp" : "prune", rules, cost, options) {}

  Result<FoundCandidate> run(const Candidate& first) {
    ISOMER_TRY(SearchNode root, graphs_.begin(first));
    if (options_.limits.max_length > 0) expand({std::move(root)});
    while (!graphs_.stopped() && !queue_.empty()) {
      const Successor next = std::move(queue_.front());
      queue_.pop();
      expand(build(next));
    }
    return graphs_.result(first);
  }

 private:
  void expand(OrderedNode unstored) {
    unstored.asleep.resize(unstored.matches.size(), false);
    unstored.footprints.resize(unstored.matches.size());
    const auto stored = graphs_.store(std::move(unstored));
    const OrderedNode& node = *stored;
    const bool last = node.length + 1 >= options_.limits.max_length;
    for (size_t i = 0; i < node.matches.size() && !graphs_.stopped(); ++i) {
      if (node.asleep[i]) continue;
      const auto delta = delta_of(node.graph, node.matches[i]);
      if (!delta) continue;
      const auto visit = graphs_.visit(stored, i, delta->hash);
      if (last || !visit.cost) continue;
      node.footprints[i] = footprint_of(node.graph, node.matches[i], *delta);
      if (visit.fresh) queue_.push({stored, i, *visit.cost});
    }
  }

  OrderedNode build(const Successor& successor) {
    const OrderedNode& parent = ordered(*successor.parent);
    std::vector<bool> unmarked;
    OrderedNode node{reuse_ ? graphs_.inherited(successor, unmarked) : graphs_.rematched(successor)};
    const std::vector<uint64_t> sleeping = asleep_after(parent, successor.match);
    if (sleeping.empty()) return node;
    const std::vector<uint64_t> hashes = value_hashes_of(node.graph);
    node.asleep.reserve(node.matches.size());
    for (const Match& match : node.matches)
      node.asleep.push_back(std::ranges::binary_search(sleeping, identity_of(match, hashes)));
    return node;
  }

  /// Returns the identities of the matches of `parent` that are asleep after one of them, in the graph after it;
  /// ascending.
  std::vector<uint64_t> asleep_after(const OrderedNode& parent, size_t last) {
    const Footprint& footprint = *parent.footprints[last];
    std::vector<uint64_t> out;
    if (!footprint.movable) return out;
    const Delta delta = *delta_of(parent.graph, parent.matches[last]);
    const Commutation commutation(parent.graph, parent.matches[last], footprint, delta);
    for (size_t i = 0; i < parent.matches.size(); ++i) {
      const Match& match = parent.matches[i];
      const bool earlier = parent.asleep[i] ? !graphs_.any_refused() : i < last;
      if (!earlier || !commutation.spares(match)) continue;
      const Footprint* other = footprint_in(parent, i);
      if (other != nullptr && commutation.spared_by(*other)) out.push_back(identity_of(match, delta.value_hashes));
    }
    std::ranges::sort(out);
    return out;
  }

  /// Returns the footprint of a match; nullptr if it leads to no graph that is kept.
  static const Footprint* footprint_in(const OrderedNode& node, size_t match) {
    std::optional<Footprint>& footprint = node.footprints[match];
    if (!footprint && node.asleep[match]) {
      const auto delta = delta_of(node.graph, node.matches[match]);
      footprint = delta ? footprint_of(node.graph, node.matches[match], *delta) : Footprint();
    }
    return footprint ? &*footprint : nullptr;
  }

  const bool reuse_;
  const SequenceOptions& options_;
  ReachedGraphs graphs_;  // outlives the queue
  std::queue<Successor> queue_;
};

}  // namespace

Result<FoundCandidate> prune_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                    const SequenceOptions& options) {
  return OrderedSearch(false, rules, cost, options).run(first);
}

Result<FoundCandidate> dpp_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                  const SequenceOptions& options) {
  return OrderedSearch(true, rules, cost, options).run(first);
}

}  // namespace isomer
