#include "isomer/search/published_ocggs.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/search/commutation.h"

namespace isomer {
namespace {

/// A node's label (definition 6).
struct SequenceLabel {
  size_t maker = 0;  // the substitution that created the node, by its place in the sequence from 1 on; 0: none
  NodeId number = 0;
};

/// The place of a substitution in the order of definition 8: the number of the last matched node (alpha), after the
/// rank of the latest substitution on which it depends. A substitution that depends on none comes before all others.
using Rank = std::vector<NodeId>;

bool precedes(const Rank& a, const Rank& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

/// A graph with the sequence that led to it. Every node of this search is one.
struct LabelledNode : SearchNode {
  std::vector<Rank> ranks = {{}};          // of the substitutions of the sequence; the first is the dummy N
  std::vector<SequenceLabel> labels = {};  // by node
  std::vector<bool> children = {};         // by match: whether the sequence may continue with it
};

const LabelledNode& labelled(const SearchNode& node) { return static_cast<const LabelledNode&>(node); }

Rank rank_of(const LabelledNode& node, const Match& match) {
  size_t latest = 0;
  for (const NodeId id : match.nodes) {
    const size_t maker = node.labels[id].maker;
    if (precedes(node.ranks[latest], node.ranks[maker])) latest = maker;
  }
  NodeId alpha = 0;
  for (const NodeId id : match.nodes)
    if (node.labels[id].maker == latest) alpha = std::max(alpha, node.labels[id].number);
  Rank rank = node.ranks[latest];
  rank.push_back(alpha);
  return rank;
}

/// Returns the labels of the nodes after a substitution. A node that corresponds to one of the graph before keeps its
/// label.
std::vector<SequenceLabel> labels_after(const LabelledNode& node, const Match& match, const Delta& delta,
                                        const Graph& after) {
  std::unordered_map<uint64_t, SequenceLabel> kept;
  for (ValueId value = 0; value < delta.value_hashes.size(); ++value)
    if (std::ranges::find(match.roots, value) == match.roots.end())
      kept.emplace(delta.value_hashes[value], node.labels[node.graph.producer(value)]);
  std::vector<SequenceLabel> labels;
  NodeId number = 0;
  for (const Node& made : after.nodes()) {
    const auto found = made.num_results == 0 ? kept.end() : kept.find(after.value_hash(made.result()));
    labels.push_back(found != kept.end() ? found->second : SequenceLabel{node.ranks.size(), number++});
  }
  return labels;
}

class PublishedSearch {
 public:
  PublishedSearch(bool reuse, std::span<const Rule> rules, const CandidateCost& cost, const SequenceOptions& options)
      : reuse_(reuse), options_(options), graphs_(reuse ? "published dpp" : "published prune", rules, cost, options) {}

  Result<FoundCandidate> run(const Candidate& first, const std::vector<NodeId>& numbers) {
    ISOMER_TRY(SearchNode root, graphs_.begin(first));
    LabelledNode node{std::move(root)};
    for (NodeId id = 0; id < node.graph.nodes().size(); ++id)
      node.labels.push_back({0, numbers.empty() ? id : numbers[id]});
    node.children.assign(node.matches.size(), true);
    descend(graphs_.store(std::move(node)));
    return graphs_.result(first);
  }

 private:
  void descend(const std::shared_ptr<const LabelledNode>& node) {
    if (graphs_.stopped() || node->length >= options_.limits.max_length) return;
    for (size_t i = 0; i < node->matches.size() && !graphs_.stopped(); ++i) {
      if (!node->children[i]) continue;
      const auto delta = delta_of(node->graph, node->matches[i]);
      if (!delta) continue;
      const auto visit = graphs_.visit(node, i, delta->hash);
      if (visit.cost && node->length + 1 < options_.limits.max_length)
        descend(graphs_.store(build({node, i, *visit.cost}, *delta)));
    }
  }

  LabelledNode build(const Successor& successor, const Delta& delta) {
    const LabelledNode& parent = labelled(*successor.parent);
    const Match& last = parent.matches[successor.match];
    LabelledNode node{graphs_.rematched(successor), parent.ranks};
    node.ranks.push_back(rank_of(parent, last));
    node.labels = labels_after(parent, last, delta, node.graph);
    const std::vector<uint64_t> reused = reuse_ ? reused_after(parent, last, delta) : std::vector<uint64_t>();
    const std::vector<uint64_t> hashes = value_hashes_of(node.graph);
    for (const Match& match : node.matches) {
      const bool follows = !precedes(rank_of(node, match), node.ranks.back());
      node.children.push_back(reuse_ ? depends_on_last(node, match) ||
                                           (follows && std::ranges::binary_search(reused, identity_of(match, hashes)))
                                     : follows);
    }
    return node;
  }

  static bool depends_on_last(const LabelledNode& node, const Match& match) {
    const size_t last = node.ranks.size() - 1;
    return std::ranges::any_of(match.nodes, [&](NodeId id) { return node.labels[id].maker == last; });
  }

  /// Returns the identities, in the graph after `last`, of the parent's children that match other nodes; ascending.
  static std::vector<uint64_t> reused_after(const LabelledNode& parent, const Match& last, const Delta& delta) {
    const auto in_last = [&](NodeId id) { return std::ranges::binary_search(last.nodes, id); };
    std::vector<uint64_t> out;
    for (size_t i = 0; i < parent.matches.size(); ++i)
      if (parent.children[i] && std::ranges::none_of(parent.matches[i].nodes, in_last))
        out.push_back(identity_of(parent.matches[i], delta.value_hashes));
    std::ranges::sort(out);
    return out;
  }

  const bool reuse_;
  const SequenceOptions& options_;
  ReachedGraphs graphs_;
};

}  // namespace

Result<FoundCandidate> published_prune_search(const Candidate& first, std::span<const Rule> rules,
                                              const CandidateCost& cost, const SequenceOptions& options,
                                              const std::vector<NodeId>& numbers) {
  return PublishedSearch(false, rules, cost, options).run(first, numbers);
}

Result<FoundCandidate> published_dpp_search(const Candidate& first, std::span<const Rule> rules,
                                            const CandidateCost& cost, const SequenceOptions& options,
                                            const std::vector<NodeId>& numbers) {
  return PublishedSearch(true, rules, cost, options).run(first, numbers);
}

}  // namespace isomer
