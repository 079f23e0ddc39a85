#include "isomer/search/sequences.h"

#include <queue>

#include "isomer/rules/delta.h"

namespace isomer {
namespace {

class Enumeration {
 public:
  Enumeration(std::span<const Rule> rules, const CandidateCost& cost, const SequenceOptions& options)
      : options_(options), graphs_("enumerate", rules, cost, options) {}

  Result<FoundCandidate> run(const Candidate& first) {
    ISOMER_TRY(SearchNode root, graphs_.begin(first));
    expand(graphs_.store(std::move(root)));
    while (!graphs_.stopped() && !queue_.empty()) {
      const Successor next = std::move(queue_.front());
      queue_.pop();
      expand(graphs_.store(graphs_.rematched(next)));
    }
    return graphs_.result(first);
  }

 private:
  void expand(const std::shared_ptr<const SearchNode>& node) {
    const int64_t max_length = options_.limits.max_length;
    if (node->length >= max_length) return;
    for (size_t i = 0; i < node->matches.size() && !graphs_.stopped(); ++i) {
      const auto delta = delta_of(node->graph, node->matches[i]);
      if (!delta) continue;
      const auto visit = graphs_.visit(node, i, delta->hash);
      if (visit.fresh && visit.cost && node->length + 1 < max_length) queue_.push({node, i, *visit.cost});
    }
  }

  const SequenceOptions& options_;
  ReachedGraphs graphs_;  // outlives the queue
  std::queue<Successor> queue_;
};

}  // namespace

Result<FoundCandidate> enumerate_sequences(const Candidate& first, std::span<const Rule> rules,
                                           const CandidateCost& cost, const SequenceOptions& options) {
  return Enumeration(rules, cost, options).run(first);
}

}  // namespace isomer
