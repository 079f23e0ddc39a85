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

LayoutTime layout_time(const std::string& layout) {
  if (layout == "substitution") return LayoutTime::Never;
  return layout == "joint" ? LayoutTime::EachCandidate : LayoutTime::AfterSearch;
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
        threads_(context.threads),
        max_length_(options.max_length == 0 ? SearchLimits().max_length : options.max_length),
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

  using Variants = SideBySide<Result<SearchResult>>;

  Result<SearchResult> search_without(const std::string& rule, const Variants::Place& place) const {
    std::vector<Rule> others;
    for (const Rule& one : context_.rules)
      if (one.name != rule) others.push_back(one);
    Budget budget = context_.budget;
    budget.end = place.end;
    return search(others, budget, place.evaluator, place.threads, place.is_here ? context_.observer : Observer());
  }

  /// Searches again without each of these rules, and keeps the best result.
  void search_variants(std::span<const std::string> without, const Deadline& end, bool known_better) {
    Variants variants(evaluator_, without.size(), threads_, end_, [&](size_t number, const Variants::Place& place) {
      return search_without(without[number], place);
    });
    for (size_t number = 0; number < without.size() && !end.passed(); ++number) {
      auto variant = variants.take(number);
      if (!variant) break;  // a kernel could not be measured in time
      const auto one = variants.lock();
      out_.report.add_counts(variant->report);
      judge(*variant, known_better);
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

  /// Keeps a result if it is the best so far. Where costs decide, its constants are not folded yet: costs are the same,
  /// and every result with folded constants needs memory for them.
  void judge(SearchResult& found, bool known_better) {
    if (!evaluator_.costs_decide())
      prepare(found, out_.report);
    else if (!evaluator_.admits(found.graph))
      return out_.report.reject(how_.name, {"it cannot be exported"});
    else if (const auto status = evaluator_.check_weights(found.graph); !status)
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
