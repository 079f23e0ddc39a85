#include "isomer/optimize/model_search.h"

#include <limits>

#include "isomer/optimize/choose_teams.h"
#include "isomer/optimize/phase.h"
#include "isomer/optimize/proof_at_use.h"
#include "isomer/rules/verdict.h"
#include "isomer/search/recompute.h"
#include "isomer/search/searches.h"

namespace isomer {
namespace {

/// Of the time, what searches get if something is decided afterwards.
constexpr double kSearchShare = 0.75;

bool may_recompute(const Evaluation& evaluation) {
  return evaluation.evaluator->weighs_memory() && evaluation.costs.model->recomputes();
}

/// Returns a candidate that computes values twice if the objective or a limit demands it.
Candidate with_less_memory(const OptimizeOptions& options, Candidate found, const Evaluation& evaluation,
                           const Deadline& end) {
  evaluation.set_deadline(end);
  // Second computations take time: they only help if a limit is exceeded or the objective depends on memory.
  if (!options.objective.minimizes(&Metrics::peak_bytes) && evaluation.within_limits(found)) return found;
  const auto objective = [&](const Candidate& candidate, const Metrics& predicted) {
    const double value = options.objective.penalized(predicted);
    if (value >= kBeyondLimits) return value;
    const auto planned = evaluation.deciding().metrics(candidate);
    return planned ? options.objective.penalized(*planned) : std::numeric_limits<double>::infinity();
  };
  auto better = recompute(found, *evaluation.costs.model, end, objective);
  return better ? std::move(*better) : std::move(found);
}

/// Searches until all steps are proved.
Status search(const OptimizeOptions& options, const SymbolValues& symbols, const Budget& budget, SearchOutcome& out) {
  const Evaluation& evaluation = out.evaluation;
  const bool decides_more = may_recompute(evaluation) || chooses_teams(options);
  const Budget whole = decides_more ? budget.share(kSearchShare) : budget;
  const auto run = [&](const RuleSet& usable, const Budget& share) -> Result<SearchResult> {
    evaluation.set_deadline(share.end);
    const SearchContext context{.rules = usable.rules,
                                .tactics = usable.tactics,
                                .evaluator = *evaluation.evaluator,
                                .symbols = symbols,
                                .budget = share,
                                .cores = static_cast<size_t>(options.costs.engine_options.streams),
                                .observer = {options.progress, options.trace}};
    ISOMER_TRY(SearchResult found, run_search(out.start->candidate, options.search, context));
    evaluation.preparation->report(found.report);
    return found;
  };
  ISOMER_TRY(SearchResult found, phase(options.trace, "search",
                                       [&] { return run(out.rules, first_search_budget(options, out.rules, whole)); }));
  const auto folded = [&](uint64_t value_hash) { return evaluation.preparation->folded(value_hash); };
  ISOMER_TRY(out.proofs, phase(options.trace, "prove", [&] {
               return search_until_proved(options, out.start->model.graph, whole, run, folded, out.rules, found);
             }));
  out.report = std::move(found.report);
  for (const SearchStep& step : out.report.steps) out.verdicts[step.rule] = out.rules.verdicts.at(step.rule);
  for (const auto& [name, applications] : out.proofs.at_use)
    if (out.verdicts.contains(name)) out.verdicts[name] = verdict_name(Verdict::Proved);
  out.found = Candidate(std::move(found));
  return {};
}

}  // namespace

Result<SearchOutcome> search_model(const OptimizeOptions& options, const SearchStart& start, Evaluation evaluation,
                                   RuleSet rules, const SymbolValues& symbols, const Budget& budget) {
  SearchOutcome out{.start = &start, .evaluation = std::move(evaluation), .rules = std::move(rules)};
  ISOMER_CHECK(search(options, symbols, budget, out));
  if (may_recompute(out.evaluation))
    phase(options.trace, "recompute",
          [&] { out.found = with_less_memory(options, std::move(out.found), out.evaluation, budget.end); });
  if (chooses_teams(options))
    phase(options.trace, "choose teams", [&] {
      out.found =
          with_fastest_teams(options, out.found, start.model, symbols, out.evaluation, budget, out.teams.emplace());
    });
  return out;
}

}  // namespace isomer
