#include "isomer/search/sample.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "isomer/base/hash.h"
#include "isomer/rules/delta.h"

namespace isomer {
namespace {

/// Smaller differences of costs are rounding errors.
constexpr double kMinChange = 1e-9;

/// A graph that was built to be expanded. Every node of this search is one.
struct SampledNode : SearchNode {
  int64_t rises = 0;            // substitutions at its end that increased the cost
  std::vector<bool> made = {};  // nodes that the last substitution made or redirected
};

/// A sequence that was costed.
struct SampledSequence : Successor {
  int64_t rises = 0;
  uint64_t tie = 0;  // orders sequences of equal cost
  // Only of sequences that are explored further:
  double potential = std::numeric_limits<double>::infinity();
  std::vector<SampledSequence> continuations = {};  // by substitutions that depend on the last one
};
using SampledSequences = std::vector<SampledSequence>;

/// Keeps the sequences with the smallest keys, in the order of the keys.
template <class Key>
void keep_smallest(SampledSequences& sequences, size_t number, const Key& key) {
  std::ranges::stable_sort(sequences, {}, [&](const SampledSequence& one) { return std::tuple(one.*key, one.tie); });
  if (sequences.size() > number) sequences.resize(number);
}

bool depends_on_last(const SampledNode& node, const Match& match) {
  const auto made = [&](NodeId id) { return node.made[id]; };
  const auto reads_made = [&](ValueId value) { return value != kNoValue && made(node.graph.producer(value)); };
  return std::ranges::any_of(match.nodes, made) ||
         std::ranges::any_of(match.binding.values, [&](const auto& bound) { return reads_made(bound.second); }) ||
         std::ranges::any_of(match.binding.sequences,
                             [&](const auto& bound) { return std::ranges::any_of(bound.second, reads_made); });
}

class Sampling {
 public:
  Sampling(std::span<const Rule> rules, const CandidateCost& cost, const SampleOptions& options)
      : options_(options), graphs_("sample", rules, cost, options.sequences) {}

  Result<FoundCandidate> run(const Candidate& first) {
    ISOMER_TRY(SearchNode root, graphs_.begin(first));
    std::vector<std::shared_ptr<const SampledNode>> kept{graphs_.store(SampledNode{std::move(root)})};
    while (!graphs_.stopped() && !kept.empty()) {
      SampledSequences chosen = next(kept);
      kept.clear();
      for (const SampledSequence& sequence : chosen)
        if (!graphs_.stopped()) kept.push_back(build(sequence));
    }
    return graphs_.result(first);
  }

 private:
  /// Returns the sequences to continue with.
  SampledSequences next(const std::vector<std::shared_ptr<const SampledNode>>& kept) {
    const size_t half = std::max<size_t>(1, options_.queue / 2);
    SampledSequences rising;
    SampledSequences out;
    for (const auto& node : kept)
      for (size_t i = 0; i < node->matches.size() && may_continue(*node); ++i)
        classify(continued(node, i), rising, out);
    for (SampledSequence& sequence : rising) explore(sequence);
    SampledSequences behind;
    while (!rising.empty()) {
      keep_smallest(rising, half, &SampledSequence::potential);
      SampledSequences higher;
      for (SampledSequence& sequence : rising)
        for (SampledSequence& one : sequence.continuations) classify(std::move(one), higher, behind);
      rising = std::move(higher);
    }
    keep_smallest(out, half, &SampledSequence::cost);
    keep_smallest(behind, half, &SampledSequence::cost);
    std::ranges::move(behind, std::back_inserter(out));
    return out;
  }

  bool may_continue(const SampledNode& node) {
    return node.length < options_.sequences.limits.max_length && !graphs_.stopped();
  }

  /// Appends a sequence to `rising` if it must be explored further, and to `others` if it does not end with a higher
  /// cost.
  void classify(std::optional<SampledSequence> sequence, SampledSequences& rising, SampledSequences& others) const {
    if (!sequence || sequence->rises > options_.eta) return;
    SampledSequences& to = sequence->rises > 0 ? rising : others;
    to.push_back(std::move(*sequence));
  }

  /// Returns the sequence that continues with a match; nothing if it leads to a graph that was reached before or is
  /// refused. `cost`, if not nullptr, receives the cost of the graph, also if it was reached before.
  std::optional<SampledSequence> continued(const std::shared_ptr<const SampledNode>& node, size_t match,
                                           std::optional<double>* cost = nullptr) {
    const auto delta = delta_of(node->graph, node->matches[match]);
    if (!delta) return std::nullopt;
    const auto visit = graphs_.visit(node, match, delta->hash);
    if (cost != nullptr) *cost = visit.cost;
    if (!visit.fresh || !visit.cost) return std::nullopt;
    const int64_t rises = *visit.cost > node->cost + kMinChange ? node->rises + 1 : 0;
    return SampledSequence{{node, match, *visit.cost}, rises, hash_mix(options_.seed, delta->hash)};
  }

  /// Finds the continuations of a sequence by substitutions that depend on its last one, and so its potential.
  void explore(SampledSequence& sequence) {
    if (sequence.parent->length + 1 >= options_.sequences.limits.max_length || graphs_.stopped()) return;
    const auto node = build(sequence);
    for (size_t i = 0; i < node->matches.size() && may_continue(*node); ++i) {
      if (!depends_on_last(*node, node->matches[i])) continue;
      std::optional<double> cost;
      auto longer = continued(node, i, &cost);
      if (cost && *cost < node->cost - kMinChange) sequence.potential = std::min(sequence.potential, *cost);
      if (!longer || longer->rises > options_.eta) continue;
      if (longer->rises > 0) explore(*longer);
      sequence.potential = std::min(sequence.potential, longer->potential);
      sequence.continuations.push_back(std::move(*longer));
    }
  }

  std::shared_ptr<const SampledNode> build(const SampledSequence& sequence) {
    std::vector<bool> made;
    SearchNode node = graphs_.inherited(sequence, made);
    return graphs_.store(SampledNode{std::move(node), sequence.rises, std::move(made)});
  }

  const SampleOptions& options_;
  ReachedGraphs graphs_;  // outlives the nodes
};

}  // namespace

Result<FoundCandidate> sample_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                     const SampleOptions& options) {
  return Sampling(rules, cost, options).run(first);
}

}  // namespace isomer
