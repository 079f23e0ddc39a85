#include "isomer/search/restarts.h"

#include <set>

namespace isomer {
namespace {

/// Returns the first rule on the way to the best graph that is not in `tried`; nullptr if there is none.
const std::string* next_rule(const SearchReport& report, const std::set<std::string>& tried) {
  for (const SearchStep& step : report.steps)
    if (!tried.contains(step.rule)) return &step.rule;
  return nullptr;
}

}  // namespace

Result<FoundCandidate> backtrack_with_restarts(const Candidate& first, std::span<const Rule> rules,
                                               const CandidateCost& cost, const BacktrackOptions& options) {
  const Budget& budget = options.limits.budget;
  Backtracking search(first, rules, cost, options, true);
  ISOMER_TRY(FoundCandidate best, search.run({}, budget.candidates / 2 + budget.candidates % 2));
  SearchReport total = best.report;
  std::set<std::string> tried;
  std::set<std::string> dropped;  // rules that were excluded when the best graph was found
  while (const std::string* rule = next_rule(best.report, tried)) {
    if (!budget.spent(total.candidates).empty()) break;
    tried.insert(*rule);
    std::set<std::string> fewer = dropped;
    fewer.insert(*rule);
    ISOMER_TRY(FoundCandidate found, search.run(fewer, budget.candidates - total.candidates));
    total.add_counts(found.report);
    total.also_ended(found.report.stop_reason);
    if (!(found.cost_after < best.cost_after)) continue;
    best = std::move(found);
    dropped = std::move(fewer);
  }
  total.steps = std::move(best.report.steps);
  best.report = std::move(total);
  return best;
}

}  // namespace isomer
