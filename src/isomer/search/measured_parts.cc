#include "isomer/search/measured_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "isomer/base/stopwatch.h"
#include "isomer/search/side_by_side.h"

namespace isomer {
namespace {

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

class MeasuredParts {
 public:
  MeasuredParts(const Candidate& first, const NamedPartSearch& how, const SearchOptions& options,
                const SearchContext& context)
      : first_(first),
        how_(how),
        search_(how.make(options)),
        layouts_(layout_time(options.layout)),
        max_growth_(options.max_growth),
        threads_(options.threads()),
        max_length_(options.length_limit()),
        split_(how.exact || options.split == 0 ? std::numeric_limits<size_t>::max()
                                               : static_cast<size_t>(options.split)),
        context_(context),
        evaluator_(context.evaluator),
        end_(context.budget.end) {}

  SearchResult unmeasured() {
    auto found = search(context_.budget);
    if (!found) return without_costs(found.error());
    prepare(*found, found->report);
    return std::move(*found);
  }

  SearchResult measured(bool known_better) {
    constexpr size_t kVariants = 4;
    const TraceScope scope(context_.observer.trace, how_.name, "search");
    if (end_.passed()) return {first_, {.algorithm = how_.name, .stop_reason = end_.reason()}};
    const Deadline for_variants = context_.budget.share(kTimeShares.variants).end;
    auto by_all = search(context_.budget.share(kTimeShares.parts));
    if (!by_all) return without_costs(by_all.error());
    out_ = {first_, by_all->report};
    out_.report.steps.clear();
    const std::vector<std::string> used = rules_by_gain(by_all->report);
    judge(*by_all, known_better);
    if (used.size() > 1)
      search_variants(std::span(used).first(std::min(kVariants, used.size())), for_variants, known_better);
    if (evaluator_.costs_decide()) prepare(out_, out_.report);
    return std::move(out_);
  }

 private:
  /// Fails if a kernel of the candidate has no cost.
  Result<SearchResult> search(std::span<const Rule> rules, Budget budget, Evaluator& evaluator, int threads,
                              const Observer& observer) const {
    if (how_.exact) budget.candidates = Budget().candidates;
    const TraceScope scope(observer.trace, "search parts", "search");
    ISOMER_TRY(SearchResult found,
               search_by_parts(first_, rules, evaluator,
                               {.algorithm = how_.name,
                                .search = search_,
                                .split = split_,
                                .layouts = layouts_,
                                .limits = {.budget = budget, .max_growth = max_growth_, .max_length = max_length_},
                                .threads = threads,
                                .observer = observer}));
    return found;
  }

  Result<SearchResult> search(const Budget& budget) const {
    return search(context_.rules, budget, evaluator_, threads_, context_.observer);
  }

  /// The result of a search without one of the rules, and when and on which thread it took place.
  struct Variant {
    Result<SearchResult> found;
    size_t thread;
    double start_us;
    double duration_us;
  };

  Variant search_without(const std::string& rule, const SideBySide<Variant>::Side& side) const {
    const double start = context_.observer.now();
    std::vector<Rule> others;
    for (const Rule& one : context_.rules)
      if (one.name != rule) others.push_back(one);
    Budget budget = context_.budget;
    budget.end = side.end;
    const Observer observer = side.thread == 0 ? context_.observer : Observer();
    auto found = search(others, budget, side.evaluator, side.threads, observer);
    return {std::move(found), side.thread, start, context_.observer.now() - start};
  }

  /// Searches again without each of these rules, and keeps the best result. None of these searches begins after
  /// `begin`. They take place at the same time only if nothing is measured meanwhile.
  void search_variants(std::span<const std::string> without, const Deadline& begin, bool known_better) {
    SideBySide<Variant> variants(
        evaluator_, without.size(), evaluator_.costs_decide() ? threads_ : 1, begin, end_,
        [&](size_t number, const auto& side) { return search_without(without[number], side); });
    for (size_t number = 0; number < without.size(); ++number) {
      auto variant = variants.take(number);
      if (!variant || !variant->found) break;  // too late, or a kernel could not be measured in time
      if (variant->thread != 0) {
        TraceScope scope(context_.observer.trace, "search parts", "search");
        scope.took(context_.observer.track(variant->thread), variant->start_us, variant->duration_us);
      }
      const auto one = variants.lock();
      out_.report.add_counts(variant->found->report);
      judge(*variant->found, known_better);
    }
  }

  /// Folds the constants of a result. If it must not be used, makes it `first` and tells the report why.
  void prepare(SearchResult& found, SearchReport& report) const {
    auto prepared = evaluator_.prepare(found);
    if (prepared) {
      static_cast<Candidate&>(found) = std::move(*prepared);
    } else {
      report.reject(how_.name, prepared.error());
      found.reset(first_);
    }
  }

  SearchResult without_costs(const Error& error) const {
    SearchResult none{first_, {.algorithm = how_.name, .stop_reason = end_.passed() ? end_.reason() : "no costs"}};
    none.report.rejected.push_back({how_.name, error.message});
    return none;
  }

  /// Keeps a result if it is the best so far.
  void judge(SearchResult& found, bool known_better) {
    if (const auto status = make_ready(evaluator_, found); !status)
      return out_.report.reject(how_.name, status.error());
    if (!seen_.insert(found.hash()).second) return;
    // After an interrupt, the final confirmation decides, unless a better graph is already known.
    const bool unmeasured = end_.stopped() && !known_better;
    if (!unmeasured) {
      context_.observer.progress("measuring what the search found");
      const auto ratio = measure_closely(evaluator_, first_, found, best_, end_);
      if (!ratio) out_.report.rejected.push_back({found.report.algorithm, ratio.error().message});
      if (!ratio || ratio->low <= 1 || ratio->value <= best_) return;
      best_ = ratio->value;
    }
    out_.report.steps = std::move(found.report.steps);
    static_cast<Candidate&>(out_) = std::move(found);
    if (const auto cost = evaluator_.cost(out_)) out_.report.progress.push_back({watch_.seconds(), *cost});
  }

  const Candidate& first_;
  const NamedPartSearch& how_;
  const PartSearch search_;
  const LayoutTime layouts_;
  const double max_growth_;
  const int threads_;
  const int64_t max_length_;
  const size_t split_;
  const SearchContext& context_;
  Evaluator& evaluator_;
  const Deadline& end_;
  const Stopwatch watch_;
  SearchResult out_;
  double best_ = 1;  // ratio of `first` to the best result
  std::set<uint64_t> seen_{first_.hash()};
};

}  // namespace

SearchResult search_unmeasured(const Candidate& first, const NamedPartSearch& how, const SearchOptions& options,
                               const SearchContext& context) {
  return MeasuredParts(first, how, options, context).unmeasured();
}

SearchResult search_measured(const Candidate& first, const NamedPartSearch& how, const SearchOptions& options,
                             const SearchContext& context, bool known_better) {
  return MeasuredParts(first, how, options, context).measured(known_better);
}

}  // namespace isomer
