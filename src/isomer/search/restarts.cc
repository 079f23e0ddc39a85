#include "isomer/search/restarts.h"

#include <algorithm>
#include <set>

namespace isomer {
namespace {

std::vector<Rule> without(std::span<const Rule> rules, const std::set<std::string>& names) {
  std::vector<Rule> out;
  std::ranges::copy_if(rules, std::back_inserter(out), [&](const Rule& rule) { return !names.contains(rule.name); });
  return out;
}

/// Returns the first rule on the way to the best graph that is not in `tried`; nullptr if there is none.
const std::string* next_rule(const SearchReport& report, const std::set<std::string>& tried) {
  for (const SearchStep& step : report.steps)
    if (!tried.contains(step.rule)) return &step.rule;
  return nullptr;
}

}  // namespace

Result<FoundCandidate> backtrack_with_restarts(const Candidate& first, std::span<const Rule> rules,
                                               const CandidateCost& cost, const BacktrackOptions& options) {
  BacktrackOptions half = options;
  half.limits.budget.candidates = options.limits.budget.candidates / 2 + options.limits.budget.candidates % 2;
  ISOMER_TRY(FoundCandidate best, backtrack(first, rules, cost, half));
  SearchReport total = best.report;
  std::set<std::string> tried;
  std::set<std::string> dropped;  // rules that were excluded when the best graph was found
  while (const std::string* rule = next_rule(best.report, tried)) {
    BacktrackOptions rest = options;
    if (!rest.limits.budget.spent(total.candidates).empty()) break;
    rest.limits.budget.candidates -= total.candidates;
    tried.insert(*rule);
    std::set<std::string> fewer = dropped;
    fewer.insert(*rule);
    ISOMER_TRY(FoundCandidate found, backtrack(first, without(rules, fewer), cost, rest));
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
