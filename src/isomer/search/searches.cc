#include "isomer/search/searches.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "isomer/base/stopwatch.h"
#include "isomer/rules/blocks.h"
#include "isomer/search/autograph.h"
#include "isomer/search/greedy.h"
#include "isomer/search/measured_parts.h"
#include "isomer/search/simplify.h"

namespace isomer {
namespace {

Result<SearchResult> greedy(const Candidate& first, Evaluator& evaluator, const Deadline& end,
                            const SearchContext& context, int threads) {
  return greedy_search(first, context.rules, evaluator,
                       {.deadline = end,
                        .tactics = context.tactics,
                        .symbols = context.symbols,
                        .observer = context.observer,
                        .threads = threads});
}

/// What costs promise, and whether runs confirm it.
struct Promise : SearchResult {
  bool kept = false;
  bool measured = true;  ///< false: runs would take too long
};

/// Whether runs confirm at least half of a gain that costs predict; both are ratios. The measured one leans to the
/// prediction, as it is an estimate from both.
bool keeps(double predicted, const Interval& measured) {
  return measured.low > 1 && std::log(measured.value) >= 0.5 * std::log(predicted);
}

/// Returns whether graphs with at least this latency, in microseconds, cannot be compared by runs in half of the time
/// that is left. Then costs are all that a search can learn about them.
bool takes_too_long(double latency, const Deadline& end) {
  constexpr double kRuns = 20;        // some to compare outputs, and more in turn
  constexpr double kLongRun = 0.2e6;  // to compare shorter ones takes a few seconds at most
  return latency >= kLongRun && end.precludes(2 * kRuns * latency / 1e6);
}

/// Runs greedy with costs only: one measurement for all its steps, since every run of a large model takes seconds.
/// Returns `first` itself if the result is not measured to be faster. If there is no time for that, the final
/// confirmation decides.
Result<Promise> greedy_by_costs(const Candidate& first, const Deadline& end, const SearchContext& context,
                                int threads) {
  TraceScope scope(context.observer.trace, "greedy by costs", "search");
  const auto known = context.evaluator.costs()->metrics(first);
  const bool measures = !known || !takes_too_long(known->latency_us, context.budget.end);
  const Deadline search_end = measures ? context.budget.share(kTimeShares.by_costs).end : context.budget.end;
  ISOMER_TRY(SearchResult searched, greedy(first, *context.evaluator.by_costs(), search_end, context, threads));
  Promise found{std::move(searched)};
  found.report.algorithm += " by costs";
  found.measured = measures;
  if (found.hash() == first.hash() || !measures || end.passed()) return found;
  context.observer.progress("measuring what the costs promise");
  const auto ratio = measure_closely(context.evaluator, first, found, 1, end);
  if (!ratio) found.report.rejected.push_back({found.report.algorithm, ratio.error().message});
  if (ratio && ratio->low > 1) {
    for (SearchStep& step : found.report.steps) step.speedup = 0;
    const auto predicted = context.evaluator.by_costs()->estimate(first, found);
    found.kept = predicted && keeps(*predicted, *ratio);
  } else {
    found.reset(first);
  }
  return found;
}

/// Drops the slower of two results for `first`; both differ from it.
void drop_slower(const Candidate& first, SearchResult& promised, SearchResult& stepwise, const SearchContext& context) {
  if (promised.hash() == first.hash()) return;
  if (stepwise.hash() == promised.hash() || stepwise.hash() == first.hash()) return stepwise.reset(first);
  const auto ratio = measure_closely(context.evaluator, promised, stepwise, 1, context.budget.end);
  (ratio && ratio->value > 1 ? promised : stepwise).reset(first);
}

/// Simplifies a prepared candidate and prepares it again. Repeats this, without the places concerned, as long as it
/// finds weights that cannot be folded.
SearchResult simplified(const Candidate& first, const SearchContext& context) {
  Evaluator& evaluator = context.evaluator;
  ExhaustiveRewriter rules(context.rules);
  for (;;) {
    SearchResult out = simplify(first, rules, context.symbols, context.budget.end, evaluator.refused());
    const auto refused = [&] { return evaluator.refused() == nullptr ? 0 : evaluator.refused()->size(); };
    const size_t known = refused();
    auto prepared = evaluator.prepare(out);
    if (refused() != known) continue;
    if (!prepared) out.report.rejected.push_back({"simplification", prepared.error().message});
    if (!prepared) out.reset(first);
    if (prepared) static_cast<Candidate&>(out) = std::move(*prepared);
    return out;
  }
}

/// Measures the kernels of a candidate. If that takes more than its share of the time, no candidate gets a predicted
/// cost, and the remaining time is used to time whole candidates, unless that would take even longer. An Error if a
/// kernel was not measured.
Status measure_kernels(const Candidate& first, const SearchContext& context) {
  const Deadline& end = context.budget.end;
  CostModel& costs = *context.evaluator.costs();
  Status known;
  for (const double of_time : {kTimeShares.kernels, kTimeShares.more_kernels}) {
    const Deadline share = context.budget.share(of_time).end;
    costs.measure_until(share);
    known = costs.metrics(first).map([](const Metrics&) {});
    costs.measure_until(known || !share.passed() ? end : share);
    if (known || !takes_too_long(costs.known_latency(first), end)) break;
  }
  return known;
}

/// One run of a search.
class SearchRun {
 public:
  SearchRun(const Candidate& first, const SearchOptions& options, const SearchContext& context)
      : first_(first), options_(options), context_(context), best_(first) {}

  /// Returns an Error only for failures of the machine.
  Result<SearchResult> run(const std::function<Status(SearchRun&)>& search) {
    const Deadline& end = context_.budget.end;
    const Status measured = measure_kernels(first_, context_);
    kernel_seconds_ = watch_.seconds();
    ISOMER_CHECK(search(*this));
    // Otherwise, nodes that the engine cannot measure had no candidates either and stay unchanged.
    if (!measured && end.passed() && report_.rejected.empty()) report_.reject("costs", measured.error());
    if (end.stopped()) report_.stop_reason = end.reason();
    report_.seconds = watch_.seconds();
    return SearchResult{std::move(best_), std::move(report_)};
  }

  Status automatic() {
    const bool ends_early = end_when_enough();
    ISOMER_CHECK(greedy_then_parts());
    const Deadline& end = context_.budget.end;
    // Its shares may have ended searches before it passed.
    const bool in_time = report_.stop_reason != end.reason() && !end.passed();
    if (ends_early && !in_time && !end.stopped())
      report_.note(fmt::format(
          "the search ended after {:.0f} s, as more time is not expected to pay; a time budget can give it more",
          watch_.seconds()));
    return {};
  }

  Status greedy_alone() { return step_by_step({first_, {}}, context_.budget.end); }

  Status simplified_autograph() {
    ISOMER_CHECK(simplify_first());
    return autograph(context_, false);
  }

  Status parts(const NamedPartSearch& how) { return how.exact ? exact(how) : simplified_parts(how); }

 private:
  /// Shortens the time if none was given and more is not expected to pay (EnoughTime). Returns whether it did. What was
  /// found with one thread need not hold where kernels run at the same time; where nothing is measured, searches end by
  /// themselves; and the results for a model whose runs take long must still be measured.
  bool end_when_enough() {
    if (options_.time_budget_seconds || context_.cores > 1 || context_.evaluator.by_costs() == nullptr) return false;
    const double enough = context_.enough.seconds + context_.enough.kernels * kernel_seconds_ - watch_.seconds();
    const Deadline end = context_.budget.end.within(enough);
    const auto known = context_.evaluator.costs()->metrics(first_);
    if (context_.budget.end.left() <= enough || !known || takes_too_long(known->latency_us, end)) return false;
    context_.budget.end = end;
    context_.evaluator.costs()->measure_until(end);
    return true;
  }

  Status greedy_then_parts() {
    const Deadline greedy_end = context_.budget.share(kTimeShares.greedy).end;
    Promise promised{{first_, {}}};
    if (context_.evaluator.by_costs() != nullptr) {
      ISOMER_TRY(promised, greedy_by_costs(first_, greedy_end, context_, options_.threads()));
    }
    if (!promised.measured) {
      take(std::move(promised), 0);
      return {};
    }
    // Where runs confirm what the costs predict, measuring step by step costs more time than it gains.
    if (promised.kept) {
      take(std::move(promised), 0);
    } else {
      ISOMER_CHECK(step_by_step(std::move(promised), greedy_end));
    }
    const uint64_t begun = best_.hash();
    SearchContext first = context_;
    first.budget = context_.budget.share(kTimeShares.first);
    ISOMER_CHECK(from_greedy(first));
    return from_the_model(begun);
  }

  /// Searches the parts of greedy's result. Where kernels can run at the same time, costs that add up misjudge graphs.
  /// Where costs decide, they misjudge no rule, and the search need not be repeated without one.
  Status from_greedy(const SearchContext& context) {
    if (context.evaluator.costs_decide()) return unmeasured_parts(backtrack_and_beam(), context);
    return context.cores > 1 ? autograph(context, true) : measured_parts(backtrack_and_beam(), context, true);
  }

  /// Runs greedy with every step measured; keeps the better of its result and `promised`, the result by costs.
  Status step_by_step(SearchResult promised, const Deadline& greedy_end) {
    const double began = watch_.seconds();
    const TraceScope scope(context_.observer.trace, "greedy", "search");
    ISOMER_TRY(SearchResult stepwise, greedy(first_, context_.evaluator, greedy_end, context_, options_.threads()));
    drop_slower(first_, promised, stepwise, context_);
    best_ = promised.hash() != first_.hash() ? promised : stepwise;
    report_.append(std::move(promised.report), 0);
    report_.append(std::move(stepwise.report), began);
    return {};
  }

  Status exact(const NamedPartSearch& how) {
    note_cost();
    return unmeasured_parts(how, context_);
  }

  /// Searches the parts of the simplified model too, with costs only, unless that is the graph whose parts have been
  /// searched already: steps that greedy takes can stand in the way of larger gains. Its result is measured if it costs
  /// less than the best one.
  Status from_the_model(uint64_t searched) {
    if (context_.budget.end.passed()) return {};
    const double began = watch_.seconds();
    SearchRun other(first_, options_, context_);
    ISOMER_CHECK(other.simplify_first());
    if (other.best_.hash() == searched) return {};
    SearchContext context = context_;
    context.budget = context_.budget.share(kTimeShares.parts);
    other.take(search_unmeasured(other.best_, backtrack_and_beam(), options_, context), 0);
    return replace_if_faster(std::move(other), began);
  }

  /// Continues with the result of another run for the same candidate, which began after so many seconds, if it is
  /// predicted and measured to be faster.
  Status replace_if_faster(SearchRun other, double began) {
    const auto mine = context_.evaluator.cost(best_);
    const auto theirs = context_.evaluator.cost(other.best_);
    bool faster = mine && theirs && *theirs < *mine;
    if (faster) {
      context_.observer.progress("measuring what the search of the model found");
      const auto ratio = measure_closely(context_.evaluator, best_, other.best_, 1, context_.budget.end);
      if (!ratio) report_.reject(backtrack_and_beam().name, ratio.error());
      faster = ratio && ratio->low > 1;
    }
    std::vector<SearchStep> steps = std::move(faster ? other.report_.steps : report_.steps);
    const std::string ended = report_.stop_reason;
    other.report_.progress.clear();
    report_.append(std::move(other.report_), began);
    report_.also_ended(ended);
    report_.steps = std::move(steps);
    if (!faster) return {};
    best_ = std::move(other.best_);
    note_cost();
    return {};
  }

  Status simplify_first() {
    const TraceScope scope(context_.observer.trace, "simplify", "search");
    ISOMER_TRY(best_, context_.evaluator.prepare(best_));
    const auto before = context_.evaluator.cost(best_);
    SearchResult simple = simplified(best_, context_);
    const auto after = context_.evaluator.cost(simple);
    join_steps(simple.report.steps, before && after ? CostChange(*before, *after) : CostChange());
    take(std::move(simple), 0);
    if (before) report_.progress.push_back({0, *before});
    if (after) report_.progress.push_back({watch_.seconds(), *after});
    return {};
  }

  Status simplified_parts(const NamedPartSearch& how) {
    ISOMER_CHECK(simplify_first());
    return measured_parts(how, context_, false);
  }

  Status unmeasured_parts(const NamedPartSearch& how, const SearchContext& context) {
    const double began = watch_.seconds();
    take(search_unmeasured(best_, how, options_, context), began);
    note_cost();
    return {};
  }

  Status autograph(const SearchContext& context, bool known_better) {
    const double began = watch_.seconds();
    take(autograph_search(best_, options_, context, known_better), began);
    return {};
  }

  Status measured_parts(const NamedPartSearch& how, const SearchContext& context, bool known_better) {
    const double began = watch_.seconds();
    take(search_measured(best_, how, options_, context, known_better), began);
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
  SearchContext context_;
  const Stopwatch watch_;
  double kernel_seconds_ = 0;  // that measuring the kernels of the first graph took
  Candidate best_;
  SearchReport report_;
};

struct NamedSearch {
  std::string name;
  bool of_parts = true;  ///< it searches parts, and can decide layouts in them
  std::function<Status(SearchRun&)> run;
};

const std::vector<NamedSearch>& searches() {
  static const std::vector<NamedSearch> kAll = [] {
    std::vector<NamedSearch> all{{"auto", true, &SearchRun::automatic},
                                 {"greedy", false, &SearchRun::greedy_alone},
                                 {"autograph", true, &SearchRun::simplified_autograph}};
    for (const NamedPartSearch& how : part_searches())
      all.push_back({how.name, true, [&how](SearchRun& run) { return run.parts(how); }});
    return all;
  }();
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
  if (options.layout != SearchOptions().layout && !search->of_parts)
    return fail("--layout {}: search '{}' decides no layouts; only searches of parts do", options.layout, search->name);
  const std::vector<Rule> rules = prefer_blocks(context.rules, context.evaluator.costs()->channel_blocks());
  SearchContext on_device = context;
  on_device.rules = rules;
  if (options.layout == "layout") {
    on_device.rules = {};
    on_device.tactics = {};
  }
  return SearchRun(first, options, on_device).run(search->run);
}

}  // namespace isomer
