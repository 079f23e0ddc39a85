#include "isomer/optimize/proof_at_use.h"

#include <algorithm>

#include "isomer/base/stopwatch.h"
#include "isomer/optimize/application_prover.h"
#include "isomer/optimize/certify.h"
#include "isomer/proof/verify_rule.h"

namespace isomer {
namespace {

/// Proves the steps, and removes the rules with an application that could not be proved.
Status prove_or_drop(const Graph& start, const SearchResult& found, const replay::KnownConstants& folded,
                     RuleSet& rules, ProvedSteps& proofs) {
  ApplicationProver prover;
  ISOMER_CHECK(moves_of(start, found.graph, found.report, rules, prover.watch(), folded));
  proofs.at_use.clear();
  proofs.in_general = 0;
  for (const auto& [name, of_rule] : prover.proofs()) {
    const bool general = rules.verdicts.at(name) == verdict_name(Verdict::Proved);
    const size_t accepted = of_rule.proved + (general ? of_rule.given_up : 0);
    if (accepted == of_rule.applications) {
      proofs.at_use[name] = of_rule.proved;
      proofs.in_general += of_rule.given_up;
    } else {
      proofs.not_proved[name] = of_rule.reason;
      drop_rule(rules, name);
    }
  }
  return {};
}

}  // namespace

Budget first_search_budget(const OptimizeOptions& options, const RuleSet& rules, const Budget& budget) {
  constexpr double kShare = 0.8;
  const bool all_proved = std::ranges::all_of(
      rules.verdicts, [](const auto& entry) { return entry.second == verdict_name(Verdict::Proved); });
  return options.allow_tested || all_proved ? budget : budget.share(kShare);
}

Result<ProvedSteps> search_until_proved(const OptimizeOptions& options, const Graph& start, const Budget& budget,
                                        RuleSearch search, const replay::KnownConstants& folded, RuleSet& rules,
                                        SearchResult& found) {
  constexpr size_t kMaxSearches = 4;
  const Stopwatch watch;
  ProvedSteps proofs;
  while (!options.allow_tested) {
    const size_t failed = proofs.not_proved.size();
    ISOMER_CHECK(prove_or_drop(start, found, folded, rules, proofs));
    if (proofs.not_proved.size() == failed) break;
    if (proofs.searches == kMaxSearches) {
      found.reset(start);
      proofs.at_use.clear();
      proofs.in_general = 0;
      break;
    }
    if (++proofs.searches == kMaxSearches || budget.end.passed()) drop_unproved(rules);
    const double earlier = found.report.seconds;
    options.progress(
        fmt::format("searching again without {} rules that could not be proved", proofs.not_proved.size()));
    ISOMER_TRY(found, search(rules, budget.share(0.5)));
    proofs.seconds += earlier - found.report.seconds;
  }
  proofs.seconds += watch.seconds();
  return proofs;
}

}  // namespace isomer
