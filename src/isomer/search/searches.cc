#include "isomer/search/searches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "isomer/base/deadline.h"
#include "isomer/base/stopwatch.h"
#include "isomer/rules/blocks.h"
#include "isomer/search/greedy.h"
#include "isomer/search/metaflow.h"
#include "isomer/search/simplify.h"

namespace isomer {
namespace {

Result<SearchResult> greedy(const Candidate& first, Evaluator& evaluator, const Deadline& end,
                            const SearchContext& context) {
  return greedy_search(
      first, context.rules, evaluator,
      {.deadline = end, .tactics = context.tactics, .symbols = context.symbols, .observer = context.observer});
}

/// Resets a result to the candidate that the search began with.
void drop(SearchResult& result, const Candidate& first) {
  static_cast<Candidate&>(result) = first;
  result.report.steps.clear();
  result.report.progress.clear();
}

/// Runs greedy with costs only: one measurement for all its steps, since every run of a large model takes seconds.
/// Returns `first` itself if the result is not measured to be faster. If there is no time for that, the final
/// confirmation decides.
Result<SearchResult> greedy_by_costs(const Candidate& first, const Deadline& search_end, const Deadline& end,
                                     const SearchContext& context) {
  TraceScope scope(context.observer.trace, "greedy by costs", "search");
  ISOMER_TRY(SearchResult found, greedy(first, *context.evaluator.by_costs(), search_end, context));
  found.report.algorithm += " by costs";
  if (found.hash() == first.hash()) return found;
  if (end.passed()) return found;
  context.observer.progress("measuring what the costs promise");
  const auto ratio = measure_closely(context.evaluator, first, found, 1, end);
  if (!ratio) found.report.rejected.push_back({found.report.algorithm, ratio.error().message});
  if (ratio && ratio->low > 1) {
    for (SearchStep& step : found.report.steps) step.speedup = 0;
  } else {
    drop(found, first);
  }
  return found;
}

/// Drops the slower of two results for `first`; both differ from it.
void drop_slower(const Candidate& first, SearchResult& promised, SearchResult& stepwise, const SearchContext& context,
                 const Deadline& end) {
  if (promised.hash() == first.hash()) return;
  if (stepwise.hash() == promised.hash() || stepwise.hash() == first.hash()) return drop(stepwise, first);
  const auto ratio = measure_closely(context.evaluator, promised, stepwise, 1, end);
  drop(ratio && ratio->value > 1 ? promised : stepwise, first);
}

/// Simplifies a prepared candidate and prepares it again. Repeats this, without the places concerned, as long as it
/// finds weights that cannot be folded.
SearchResult simplified(const Candidate& first, const Deadline& end, const SearchContext& context) {
  for (;;) {
    SearchResult out = simplify(first, context.rules, context.symbols, end, context.evaluator.refused());
    const auto refused = [&] {
      return context.evaluator.refused() == nullptr ? 0 : context.evaluator.refused()->size();
    };
    const size_t known = refused();
    auto prepared = context.evaluator.prepare(out);
    if (refused() != known) continue;
    if (!prepared) out.report.rejected.push_back({"simplification", prepared.error().message});
    if (!prepared) drop(out, first);
    if (prepared) static_cast<Candidate&>(out) = std::move(*prepared);
    return out;
  }
}

/// How MetaFlow's search finds the best graph of a part.
enum class PartSearch : uint8_t { Backtrack, Beam, Enumerate };

/// As metaflow_search reports it: enumeration is backtracking without a cutoff.
const char* name_of(PartSearch how) { return how == PartSearch::Beam ? "beam" : "backtrack"; }

Result<SearchResult> metaflow(const Candidate& first, std::span<const Rule> rules, PartSearch how,
                              const SearchOptions& options, const Deadline& end, const SearchContext& context) {
  const bool all = how == PartSearch::Enumerate;
  const MetaflowOptions metaflow{
      .alpha = all ? std::numeric_limits<double>::infinity() : options.alpha,
      .max_uphill = all ? 0 : MetaflowOptions().max_uphill,
      .split = all || options.split == 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(options.split),
      .max_candidates = all ? std::numeric_limits<int64_t>::max() : options.max_candidates,
      .beam_width = how == PartSearch::Beam ? std::optional(static_cast<size_t>(options.beam_width)) : std::nullopt,
      .deadline = end,
      .observer = context.observer};
  const TraceScope scope(context.observer.trace, "search parts", "search");
  ISOMER_TRY(SearchResult found, metaflow_search(first, rules, context.evaluator, metaflow));
  auto prepared = context.evaluator.prepare(found);
  if (prepared) {
    static_cast<Candidate&>(found) = std::move(*prepared);
  } else {
    found.report.rejected.push_back({name_of(how), prepared.error().message});
    drop(found, first);
  }
  return found;
}

/// Measures the kernels of a candidate. If that takes more than half of the time, no candidate gets a predicted cost,
/// and the remaining time is used to time whole candidates. An Error if a kernel was not measured.
Status measure_kernels(const Candidate& first, const Deadline& end, const SearchContext& context) {
  const Deadline half = end.within(end.left() / 2);
  CostModel& costs = *context.evaluator.costs();
  costs.measure_until(half);
  Status known = costs.metrics(first).map([](const Metrics&) {});
  costs.measure_until(known || !half.passed() ? end : half);
  return known;
}

/// Returns the rules that a search used, sorted by their change of the cost, largest first.
std::vector<std::string> rules_by_gain(const SearchReport& report) {
  std::map<std::string, double> gains;
  for (const SearchStep& step : report.steps) gains[step.rule] += std::abs(step.delta);
  std::vector<std::string> names;
  names.reserve(gains.size());
  for (const auto& [name, gain] : gains) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return gains[a] > gains[b]; });
  return names;
}

/// Returns the result of MetaFlow's search if a kernel of the candidate cannot be measured at all or in time: the
/// candidate itself.
SearchResult without_costs(const Candidate& first, PartSearch how, const Error& error, const Deadline& end) {
  SearchResult none{first, {.algorithm = name_of(how), .stop_reason = end.passed() ? end.reason() : "no costs"}};
  none.report.rejected.push_back({name_of(how), error.message});
  return none;
}

/// Runs MetaFlow's search, and again without each of the rules that it used most: costs are per kernel, and a rule
/// whose effect they misjudge must not spoil the rest. The evaluator decides which result is best, and whether it is
/// better than `first`. After an interrupt, the results are measured only if something is `known_better`.
Result<SearchResult> measured_metaflow(const Candidate& first, PartSearch how, const SearchOptions& options,
                                       const Deadline& end, const SearchContext& context, bool known_better) {
  constexpr size_t kVariants = 4;
  // The rest of the time is for measuring the results.
  constexpr double kSearchShare = 0.7;
  const TraceScope scope(context.observer.trace, name_of(how), "search");
  const Stopwatch watch;
  if (end.passed()) return SearchResult{first, {.algorithm = name_of(how), .stop_reason = end.reason()}};
  const double seconds = end.left();
  const Deadline for_variants = end.within(seconds / 2);
  auto found = metaflow(first, context.rules, how, options, end.within(kSearchShare * seconds), context);
  if (!found) return without_costs(first, how, found.error(), end);
  SearchResult by_all = std::move(*found);
  SearchResult out{first, by_all.report};
  out.report.steps.clear();
  double best = 1;
  std::set<uint64_t> seen{first.hash()};
  const auto judge = [&](SearchResult& candidate) {
    if (!seen.insert(candidate.hash()).second) return;
    // After an interrupt, the final confirmation decides, unless a better graph is already known.
    const bool unmeasured = end.stopped() && !known_better;
    if (!unmeasured) {
      context.observer.progress("measuring what the search found");
      const auto ratio = measure_closely(context.evaluator, first, candidate, best, end);
      if (!ratio) out.report.rejected.push_back({candidate.report.algorithm, ratio.error().message});
      if (!ratio || ratio->low <= 1 || ratio->value <= best) return;
      best = ratio->value;
    }
    out.report.steps = std::move(candidate.report.steps);
    static_cast<Candidate&>(out) = std::move(candidate);
    if (const auto cost = context.evaluator.cost(out)) out.report.progress.push_back({watch.seconds(), *cost});
  };
  const std::vector<std::string> used = rules_by_gain(by_all.report);
  judge(by_all);
  for (size_t i = 0; i < std::min(kVariants, used.size()) && used.size() > 1; ++i) {
    if (for_variants.passed()) break;
    std::vector<Rule> others;
    for (const Rule& rule : context.rules)
      if (rule.name != used[i]) others.push_back(rule);
    auto variant = metaflow(first, others, how, options, end, context);
    if (!variant) break;  // a kernel could not be measured in time
    out.report.add_counts(variant->report);
    judge(*variant);
  }
  return out;
}

/// One run of a search.
class SearchRun {
 public:
  SearchRun(const Candidate& first, const SearchOptions& options, const SearchContext& context)
      : first_(first),
        options_(options),
        context_(context),
        end_(context.deadline.within(options.time_budget_seconds)),
        seconds_(end_.left()),
        best_(first) {}

  /// Returns an Error only for failures of the machine.
  Result<SearchResult> run(Status (SearchRun::*search)()) {
    const Status measured = measure_kernels(first_, end_, context_);
    ISOMER_CHECK((this->*search)());
    // Otherwise, nodes that the engine cannot measure had no candidates either and stay unchanged.
    if (!measured && end_.passed() && report_.rejected.empty()) report_.reject("costs", measured.error());
    if (end_.stopped()) report_.stop_reason = end_.reason();
    report_.seconds = watch_.seconds();
    return SearchResult{std::move(best_), std::move(report_)};
  }

  Status automatic() {
    // Backtracking may find what greedy's share of the time is not enough for.
    constexpr double kGreedyShare = 0.7;
    constexpr double kByCostsShare = 0.25;
    const Deadline greedy_end = end_.within(kGreedyShare * seconds_);
    SearchResult promised{first_, {}};
    if (context_.evaluator.by_costs() != nullptr) {
      const Deadline by_costs_end = end_.within(kByCostsShare * seconds_);
      ISOMER_TRY(promised, greedy_by_costs(first_, by_costs_end, greedy_end, context_));
    }
    ISOMER_CHECK(step_by_step(std::move(promised), greedy_end));
    return measured_parts(PartSearch::Backtrack, true);
  }

  Status greedy_alone() { return step_by_step({first_, {}}, end_); }

  Status backtrack() { return simplified_parts(PartSearch::Backtrack); }

  Status beam() { return simplified_parts(PartSearch::Beam); }

  Status enumerate() {
    const double began = watch_.seconds();
    note_cost();
    auto found = metaflow(best_, context_.rules, PartSearch::Enumerate, options_, end_, context_);
    if (!found) found = without_costs(best_, PartSearch::Enumerate, found.error(), end_);
    take(std::move(*found), began);
    note_cost();
    return {};
  }

 private:
  /// Runs greedy with every step measured; keeps the better of its result and `promised`, the result by costs.
  Status step_by_step(SearchResult promised, const Deadline& greedy_end) {
    const double began = watch_.seconds();
    const TraceScope scope(context_.observer.trace, "greedy", "search");
    ISOMER_TRY(SearchResult stepwise, greedy(first_, context_.evaluator, greedy_end, context_));
    drop_slower(first_, promised, stepwise, context_, end_);
    best_ = promised.hash() != first_.hash() ? promised : stepwise;
    report_.append(std::move(promised.report), 0);
    report_.append(std::move(stepwise.report), began);
    return {};
  }

  Status simplified_parts(PartSearch how) {
    {
      const TraceScope scope(context_.observer.trace, "simplify", "search");
      ISOMER_TRY(best_, context_.evaluator.prepare(best_));
      const auto before = context_.evaluator.cost(best_);
      SearchResult simple = simplified(best_, end_, context_);
      const auto after = context_.evaluator.cost(simple);
      join_steps(simple.report.steps, before && after ? *after - *before : 0);
      take(std::move(simple), 0);
      if (before) report_.progress.push_back({0, *before});
      if (after) report_.progress.push_back({watch_.seconds(), *after});
    }
    return measured_parts(how, false);
  }

  Status measured_parts(PartSearch how, bool known_better) {
    const double began = watch_.seconds();
    ISOMER_TRY(SearchResult found, measured_metaflow(best_, how, options_, end_, context_, known_better));
    take(std::move(found), began);
    return {};
  }

  /// Continues with the result of a search that began after so many seconds.
  void take(SearchResult found, double began) {
    report_.append(std::move(found.report), began);
    best_ = std::move(found);
  }

  void note_cost() {
    if (const auto cost = context_.evaluator.cost(best_)) report_.progress.push_back({watch_.seconds(), *cost});
  }

  const Candidate& first_;
  const SearchOptions& options_;
  const SearchContext& context_;
  const Stopwatch watch_;
  const Deadline end_;
  const double seconds_;  // available to all searches
  Candidate best_;
  SearchReport report_;
};

struct NamedSearch {
  std::string name;
  Status (SearchRun::*run)();
};

const std::vector<NamedSearch>& searches() {
  static const std::vector<NamedSearch> kAll{{"auto", &SearchRun::automatic},
                                             {"greedy", &SearchRun::greedy_alone},
                                             {"backtrack", &SearchRun::backtrack},
                                             {"beam", &SearchRun::beam},
                                             {"enumerate", &SearchRun::enumerate}};
  return kAll;
}

}  // namespace

std::vector<std::string> search_names() {
  std::vector<std::string> names;
  for (const NamedSearch& search : searches()) names.push_back(search.name);
  return names;
}

Result<SearchResult> run_search(const Candidate& first, const SearchOptions& options, const SearchContext& context) {
  const auto search = std::ranges::find(searches(), options.search, &NamedSearch::name);
  if (search == searches().end())
    return fail("search '{}' is not known; there are {}", options.search, fmt::join(search_names(), ", "));
  const std::vector<Rule> rules = prefer_blocks(context.rules, context.evaluator.costs()->channel_blocks());
  SearchContext on_device = context;
  on_device.rules = rules;
  return SearchRun(first, options, on_device).run(search->run);
}

}  // namespace isomer
