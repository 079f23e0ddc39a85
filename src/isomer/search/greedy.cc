#include "isomer/search/greedy.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include "isomer/base/ahead.h"
#include "isomer/base/stopwatch.h"
#include "isomer/cost/objective.h"
#include "isomer/rules/record.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/match_classes.h"
#include "isomer/search/simplify.h"
#include "isomer/search/step.h"
#include "isomer/search/tactic.h"

namespace isomer {
namespace {

/// A candidate that may follow the current one: after a tactic, or a rule at some of its places.
struct NextCandidate : Candidate {
  std::string name;  // of the tactic or rule
  std::vector<SearchStep> steps;
  std::optional<double> estimate = std::nullopt;  // predicted ratio to the current candidate
};

/// The candidates that a tactic or a rule leads to.
struct Made {
  std::vector<NextCandidate> candidates = {};
  int64_t matches = 0;
};

/// Makes candidates. Several threads make different ones at the same time, each with a rewriter of its own.
using Proposal = std::function<Made(ExhaustiveRewriter& rewriter)>;

class Greedy {
 public:
  Greedy(std::span<const Rule> rules, Evaluator& evaluator, const GreedyOptions& options)
      : rules_(rules),
        rewriters_(static_cast<size_t>(std::max(options.threads, 1)), ExhaustiveRewriter(rules)),
        evaluator_(evaluator),
        options_(options),
        end_(options.deadline) {}

  Result<SearchResult> run(const Candidate& first) {
    ISOMER_TRY(Candidate current, evaluator_.prepare(first));
    report_.algorithm = "greedy";
    if (const auto cost = evaluator_.cost(current)) tell_cost(*cost);
    ISOMER_CHECK(start(current));
    max_flops_ = options_.max_work * flops(current.graph);
    seen_.insert(current.hash());
    for (;;) {
      auto best = best_step(current);
      if (!best) break;
      take(current, std::move(*best));
    }
    report_.stop_reason = out_of_time() ? end_.reason() : "exhausted";
    report_.seconds = watch_.seconds();
    return SearchResult{std::move(current), std::move(report_)};
  }

 private:
  void tell_cost(double cost) {
    report_.progress.push_back({watch_.seconds(), cost});
    if (cost < kBeyondLimits) options_.observer.number("best cost", cost);
  }

  bool out_of_time() const { return end_.passed(); }
  size_t num_refused() const { return evaluator_.refused() == nullptr ? 0 : evaluator_.refused()->size(); }
  double flops(const Graph& graph) const { return graph_work(graph, extents_of(graph, options_.symbols)).run.flops; }

  /// Simplifies, unless that makes the model slower: an engine may recognize the longer form and have a kernel for it.
  Status start(Candidate& current) {
    const TraceScope scope(options_.observer.trace, "simplify", "step");
    SearchResult simple = simplify(current, rewriters_[0], options_.symbols, end_, evaluator_.refused());
    report_.candidates += simple.report.candidates;
    report_.matches += simple.report.matches;
    if (simple.report.steps.empty()) return {};
    const size_t refused = num_refused();
    auto prepared = evaluator_.prepare(simple);
    if (num_refused() != refused) return start(current);
    const auto ratio = prepared ? evaluator_.measure(current, *prepared) : tl::unexpected(prepared.error());
    if (!ratio) report_.reject("simplification", ratio.error());
    simplifies_ = ratio && (ratio->value >= 0.99 || ratio->high >= 1);
    if (!simplifies_) return {};
    take(current, {std::move(*prepared), "simplification", std::move(simple.report.steps)});
    return {};
  }

  /// Makes a candidate the current one.
  void take(Candidate& current, NextCandidate candidate) {
    const auto before = evaluator_.cost(current);
    const auto after = evaluator_.cost(candidate);
    join_steps(candidate.steps, before && after ? CostChange(*before, *after) : CostChange());
    for (SearchStep& step : candidate.steps) report_.steps.push_back(std::move(step));
    if (after) tell_cost(*after);
    current = std::move(candidate);
  }

  /// Returns the best of the first kind of candidates that contains an improvement. The kinds are tactics, a rule at
  /// all its places, and a rule at similar places.
  std::optional<NextCandidate> best_step(const Candidate& current) {
    struct Kind {
      const char* name;
      std::vector<Proposal> (Greedy::*propose)(const Candidate&);
    };
    TraceScope scope(options_.observer.trace, "step", "step");
    for (const auto& [name, propose] : {Kind{"tactics", &Greedy::tactics}, Kind{"rules", &Greedy::rules_exhaustively},
                                        Kind{"rules at like places", &Greedy::rules_by_class}}) {
      for (bool again = true; again;) {
        const size_t refused = num_refused();
        std::vector<NextCandidate> candidates;
        {
          const TraceScope looking(options_.observer.trace, name, "candidates");
          candidates = candidates_of(current, (this->*propose)(current));
        }
        auto best = best_of(current, std::move(candidates));
        if (best) {
          scope.note("taken", best->name);
          return best;
        }
        again = num_refused() != refused && !out_of_time();
      }
    }
    return std::nullopt;
  }

  /// Measures the candidates with the best predictions first, so that they are covered if time is short; where costs
  /// decide, the first that may be kept is the best, even after the time. Candidates that are predicted to be much
  /// worse than the best measured one are left for the next step.
  std::optional<NextCandidate> best_of(const Candidate& current, std::vector<NextCandidate> candidates) {
    std::ranges::stable_sort(candidates, std::greater(), [](const NextCandidate& c) { return c.estimate.value_or(1); });
    std::optional<NextCandidate> best;
    for (NextCandidate& candidate : candidates) {
      if (out_of_time() && (best || !evaluator_.costs_decide())) break;
      if (best && candidate.estimate && *candidate.estimate * kCostError < best->steps.front().speedup) break;
      judge(current, std::move(candidate), best);
    }
    return best;
  }

  std::vector<Proposal> tactics(const Candidate& current) {
    std::vector<Proposal> proposals;
    for (const Tactic& tactic : options_.tactics)
      proposals.push_back([&](ExhaustiveRewriter&) {
        Made out;
        for (TacticResult& next : run_tactic(current, tactic, rules_, end_, evaluator_.refused())) {
          out.matches += next.matches;
          std::vector<SearchStep> steps = std::move(next.steps);
          out.candidates.push_back({std::move(next), tactic.name, std::move(steps)});
        }
        return out;
      });
    return proposals;
  }

  std::vector<Proposal> rules_exhaustively(const Candidate& current) {
    std::vector<Proposal> out;
    const auto index = std::make_shared<const OpIndex>(current.graph);
    const OpSet ops = ops_of(current.graph);
    for (size_t i = 0; i < rules_.size() && !out_of_time(); ++i) {
      if (!ops.may_contain(rewriters_[0].rules()[i].ops)) continue;
      if (rules_[i].choices.empty())
        out.push_back(
            [&, i, index](ExhaustiveRewriter& rewriter) { return exhaustively(current, *index, i, rewriter); });
      else
        for (auto& places : settings_of(matches_of(current.graph, *index, i)))
          out.push_back(rule_at(current, std::move(places)));
    }
    return out;
  }

  Made exhaustively(const Candidate& current, const OpIndex& index, size_t rule, ExhaustiveRewriter& rewriter) const {
    ExhaustiveRewrite next = rewriter.apply(current, index, rewriter.rules()[rule], end_, evaluator_.refused());
    Made out{.matches = next.matches};
    if (next.after) out.candidates.push_back({std::move(*next.after), rules_[rule].name, {std::move(next.step)}});
    return out;
  }

  std::vector<Proposal> rules_by_class(const Candidate& current) {
    std::vector<Proposal> out;
    const OpIndex index(current.graph);
    const OpSet ops = ops_of(current.graph);
    for (size_t i = 0; i < rules_.size() && !out_of_time(); ++i) {
      if (!ops.may_contain(rewriters_[0].rules()[i].ops)) continue;
      auto classes = classes_of(current.graph, matches_of(current.graph, index, i));
      if (classes.size() < 2) continue;
      for (auto& places : classes) out.push_back(rule_at(current, std::move(places)));
    }
    return out;
  }

  std::vector<Match> matches_of(const Graph& current, const OpIndex& index, size_t rule) {
    std::vector<Match> matches = find_matches(current, index, rewriters_[0].rules()[rule].plan, SIZE_MAX, &end_);
    report_.matches += static_cast<int64_t>(matches.size());
    return matches;
  }

  /// A rule at some of its places.
  Proposal rule_at(const Candidate& current, std::vector<Match> places) const {
    return [this, &current, places = std::move(places)](ExhaustiveRewriter&) {
      const Rule& rule = *places[0].rule;
      const Graph& graph = current.graph;
      Rewritten next = apply_matches(graph, places, evaluator_.refused());
      if (next.applied.empty()) return Made();
      SearchStep step{.rule = rule.name, .rule_hash = rule.hash(), .ops_before = run_time_ops(graph)};
      step.ops_after = run_time_ops(next.graph);
      step.moves.push_back(record_move(graph, next.applied, next.graph));
      for (const Match* match : next.applied)
        for (const ValueId root : match->roots) step.nodes.push_back(value_label(graph, root));
      Candidate after = carried(current.decisions, next.value_hashes, std::move(next.graph));
      Made out;
      out.candidates.push_back({std::move(after), rule.name, {std::move(step)}});
      return out;
    };
  }

  /// Makes and simplifies candidates, and returns those that are new and that the costs do not rule out, in the order
  /// of the proposals. Only some are made at a time, since each is a graph. Nothing is made while the costs are asked:
  /// they may be measured.
  std::vector<NextCandidate> candidates_of(const Candidate& current, const std::vector<Proposal>& proposals) {
    constexpr size_t kPerThread = 16, kAtATime = 128;
    const size_t at_a_time = std::min(kPerThread * rewriters_.size(), kAtATime);
    Ahead<size_t, Made> ahead(rewriters_.size(), [&](size_t i, size_t thread, const std::atomic<bool>&) {
      return made(proposals[i], rewriters_[thread]);
    });
    std::vector<NextCandidate> out;
    for (size_t begin = 0; begin < proposals.size(); begin += at_a_time) {
      const size_t end = std::min(begin + at_a_time, proposals.size());
      for (size_t i = begin; i < end; ++i) ahead.add(i, i);
      std::vector<Made> some;
      for (size_t i = begin; i < end; ++i) {
        auto done = ahead.take(i, [&] { end_.stopped(); });
        some.push_back(done ? std::move(*done) : made(proposals[i], rewriters_[0]));
      }
      std::vector<NextCandidate> next;
      for (Made& one : some) {
        report_.matches += one.matches;
        std::ranges::move(one.candidates, std::back_inserter(next));
      }
      offer_all(current, std::move(next), out);
      if (out_of_time()) return out;
    }
    return out;
  }

  /// Offers candidates in their order, and announces those that follow (CostModel::expect).
  void offer_all(const Candidate& current, std::vector<NextCandidate> candidates, std::vector<NextCandidate>& out) {
    size_t offered = 0, expected = 0;
    CostModel* const costs = evaluator_.costs();
    if (costs != nullptr)
      costs->expect([&]() -> const Candidate* {
        expected = std::max(expected, offered);  // those before were moved
        while (expected < candidates.size()) {
          const NextCandidate& next = candidates[expected++];
          if (is_new(current, next) && flops(next.graph) <= max_flops_) return &next;
        }
        return nullptr;
      });
    while (offered < candidates.size() && !out_of_time()) {
      NextCandidate& next = candidates[offered++];
      offer(current, std::move(next), out);
    }
    if (costs != nullptr) costs->expect(nullptr);
  }

  /// Returns whether a candidate was not yet compared with `current`.
  bool is_new(const Candidate& current, const Candidate& next) const {
    const uint64_t hash = next.hash();
    return hash != current.hash() && !seen_.contains(hash_mix_pair(current.hash(), hash));
  }

  Made made(const Proposal& proposal, ExhaustiveRewriter& rewriter) const {
    if (out_of_time()) return {};
    Made out = proposal(rewriter);
    if (simplifies_)
      for (NextCandidate& candidate : out.candidates) simplify_further(candidate, rewriter);
    return out;
  }

  void simplify_further(NextCandidate& candidate, ExhaustiveRewriter& rewriter) const {
    SearchResult simple = simplify(candidate, rewriter, options_.symbols, end_, evaluator_.refused());
    for (SearchStep& step : simple.report.steps) candidate.steps.push_back(std::move(step));
    static_cast<Candidate&>(candidate) = std::move(simple);
  }

  /// Adds a candidate, unless it is known, needs too much work, or is ruled out by the costs.
  void offer(const Candidate& current, NextCandidate candidate, std::vector<NextCandidate>& out) {
    ++report_.candidates;
    options_.observer.number("candidates", static_cast<double>(report_.candidates));
    if (!is_new(current, candidate)) {
      ++report_.duplicates;
      return;
    }
    seen_.insert(hash_mix_pair(current.hash(), candidate.hash()));
    if (flops(candidate.graph) > max_flops_) return;
    candidate.estimate = evaluator_.estimate(current, candidate);
    if (candidate.estimate == 0) return report_.reject(candidate.name, {"the candidate exceeds a limit"});
    if (candidate.estimate.value_or(options_.min_estimate) >= options_.min_estimate)
      out.push_back(std::move(candidate));
  }

  /// Measures a candidate against `current`, and keeps it if it is the best so far.
  void judge(const Candidate& current, NextCandidate candidate, std::optional<NextCandidate>& best) {
    auto prepared = evaluator_.prepare(candidate);
    if (!prepared) return report_.reject(candidate.name, prepared.error());
    static_cast<Candidate&>(candidate) = std::move(*prepared);
    if (candidate.hash() == current.hash()) return;
    options_.observer.progress(fmt::format("measuring {}", candidate.name));
    TraceScope scope(options_.observer.trace, candidate.name, "judge");
    if (candidate.estimate) scope.note("predicted", *candidate.estimate);
    const double min_speedup = best ? best->steps.front().speedup : options_.min_speedup;
    const auto ratio = measure_closely(evaluator_, current, candidate, min_speedup, end_);
    if (!ratio) {
      scope.note("rejected", ratio.error().message);
      return report_.reject(candidate.name, ratio.error());
    }
    scope.note("ratio", ratio->value);
    scope.note("low", ratio->low);
    scope.note("high", ratio->high);
    if (ratio->low <= 1 || ratio->value <= min_speedup) return;
    candidate.steps.front().speedup = ratio->value;
    best = std::move(candidate);
  }

  /// Each candidate is measured once against each one that it may follow.
  static uint64_t hash_mix_pair(uint64_t current, uint64_t candidate) {
    return Graph::hash_mix_result(current, 0) ^ candidate;
  }

  /// The factor by which a prediction may be lower than the measurement.
  static constexpr double kCostError = 1.1;

  std::span<const Rule> rules_;
  std::vector<ExhaustiveRewriter> rewriters_;  // by thread
  Evaluator& evaluator_;
  const GreedyOptions& options_;
  const Deadline& end_;
  SearchReport report_;
  std::set<uint64_t> seen_;
  double max_flops_ = 0;
  bool simplifies_ = true;
  const Stopwatch watch_;
};

}  // namespace

Result<SearchResult> greedy_search(const Candidate& first, std::span<const Rule> rules, Evaluator& evaluator,
                                   const GreedyOptions& options) {
  return Greedy(rules, evaluator, options).run(first);
}

}  // namespace isomer
