#include "isomer/search/beam.h"

#include <algorithm>

namespace isomer {

Result<FoundCandidate> beam_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                   const BeamOptions& options) {
  const RuleIndex index(rules);
  Expansion expansion("beam", index, cost, options.limits);
  ISOMER_TRY(SearchNode root, expansion.begin(first));
  std::vector<std::shared_ptr<const SearchNode>> kept = {std::make_shared<SearchNode>(std::move(root))};
  while (!kept.empty() && !expansion.stopped()) {
    std::vector<Successor> next;
    for (const auto& node : kept) {
      expansion.expand(*node);
      for (size_t i = 0; i < node->matches.size() && !expansion.stopped(); ++i) {
        const auto cost_after = expansion.cost(*node, i);
        if (!cost_after) continue;
        const Successor successor{node, i, *cost_after};
        if (expansion.keep(successor)) next.push_back(successor);
      }
    }
    std::ranges::stable_sort(next, {}, &Successor::cost);
    if (options.width > 0 && next.size() > options.width) next.resize(options.width);
    kept.clear();
    for (const Successor& successor : next) {
      std::vector<bool> unmarked;
      if (!expansion.stopped()) kept.push_back(std::make_shared<SearchNode>(expansion.build(successor, unmarked)));
    }
  }
  return expansion.result(first);
}

}  // namespace isomer
