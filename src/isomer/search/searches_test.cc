#include "isomer/search/searches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/part_searches.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// An engine with the latencies of the roofline model, multiplied by `factors` for some graphs.
class Measured : public Evaluator {
 public:
  explicit Measured(double otherwise = 1, std::map<uint64_t, double> factors = {})
      : otherwise_(otherwise), factors_(std::move(factors)) {}

  CostModel* costs() override { return &costs_; }
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
    const double ratio = latency(current) / latency(candidate);
    return Interval{ratio, ratio - 0.001, ratio + 0.001};
  }

 private:
  double latency(const Candidate& candidate) {
    const auto known = factors_.find(candidate.hash());
    return (known == factors_.end() ? otherwise_ : known->second) * costs_.metrics(candidate).value().latency_us;
  }

  const double otherwise_;
  const std::map<uint64_t, double> factors_;
  RooflineCost costs_;
};

double latency(const Graph& graph) { return RooflineCost().metrics(graph).value().latency_us; }

/// Likewise, and can also evaluate by costs only.
class Estimated : public Measured {
 public:
  using Measured::Measured;
  Evaluator* by_costs() override { return &by_costs_; }

 private:
  RooflineCost roofline_;
  const Objective latency_;
  CostEvaluator by_costs_{roofline_, latency_};
};

SearchResult found(const Graph& graph, Evaluator& evaluator, const std::string& search = "auto") {
  const RuleFile file = builtin_rule_file().value();
  const SearchContext context{.rules = file.rules, .tactics = file.tactics, .evaluator = evaluator};
  return run_search(graph, {.search = search}, context).value();
}

/// The roofline model; counts what is asked of it after `stopped`.
class Watched : public CostModel {
 public:
  explicit Watched(const bool& stopped) : stopped_(stopped) {}
  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary) override {
    late += stopped_ ? 1 : 0;
    return costs_.metrics(candidate, boundary);
  }
  Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) override { return costs_.kernels(candidate); }

  int late = 0;

 private:
  const bool& stopped_;
  RooflineCost costs_;
};

class WatchedEvaluator : public Measured {
 public:
  explicit WatchedEvaluator(const bool& stopped) : watched(stopped), estimating(stopped), stopped_(stopped) {}
  CostModel* costs() override { return &watched; }
  Evaluator* by_costs() override { return &by_costs_; }
  Result<Candidate> prepare(const Candidate& candidate) override {
    prepared_late += stopped_ ? 1 : 0;
    return candidate;
  }
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
    measured_late += stopped_ ? 1 : 0;
    return Measured::measure(current, candidate);
  }

  Watched watched;
  Watched estimating;
  int measured_late = 0;
  int prepared_late = 0;

 private:
  const bool& stopped_;
  const Objective latency_;
  CostEvaluator by_costs_{estimating, latency_};
};

/// Every search rewrites the gate; the decision about the value below it stays.
TEST(Searches, KeepDecisionsAboutValuesThatRemain) {
  std::string text(kGate);
  text.replace(text.find("return y"), std::string::npos, "r = Relu(y)\n t = Tanh(r)\n return t");
  const Graph graph = parsed(text);
  const ValueId relu = graph.operands(graph.producer_node(graph.outputs()[0]))[0];
  const Candidate first(graph, {.layouts = {{relu, Layout::Blocked}}});
  const RuleFile file = builtin_rule_file().value();
  for (const std::string& search : search_names()) {
    Measured evaluator;
    const SearchContext context{
        .rules = file.rules, .tactics = file.tactics, .evaluator = evaluator, .budget = {.candidates = 100}};
    const auto result = run_search(first, {.search = search, .max_length = 2}, context);
    ASSERT_TRUE(result.has_value()) << search;
    EXPECT_LT(run_time_ops(result->graph), run_time_ops(graph)) << search;
    const ValueId now = result->graph.operands(result->graph.producer_node(result->graph.outputs()[0]))[0];
    EXPECT_EQ(result->graph.producer_node(now).op->name, "Relu") << search;
    EXPECT_EQ(result->decisions, (Decisions{.layouts = {{now, Layout::Blocked}}})) << search;
  }
}

TEST(Searches, GreedyDoesNotIgnoreThatLayoutsAreWanted) {
  Measured evaluator;
  const RuleFile file = builtin_rule_file().value();
  const SearchContext context{.rules = file.rules, .tactics = file.tactics, .evaluator = evaluator, .budget = {}};
  const auto found = run_search(parsed(kGate), {.search = "greedy", .layout = "joint"}, context);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().message, "--layout joint: search 'greedy' decides no layouts; only searches of parts do");
}

TEST(Searches, EndSoonAfterTheyAreAskedTo) {
  constexpr int kCosts = 12;  // for the report: before and after the current step
  const RuleFile file = builtin_rule_file().value();
  std::vector<std::pair<std::string, std::string>> cases{{"greedy", "squeezenet"}};
  for (const std::string& search : search_names()) cases.emplace_back(search, "sru");
  for (const auto& [search, network] : cases) {
    const Graph graph = build_model(network).value();
    bool was_stopped = false;
    for (const int looks : {0, 1, 10, 100, 1000, 3000, 10000}) {
      int asked = 0;
      bool stopped = false;
      const auto stop = [&] { return stopped = stopped || ++asked > looks; };
      WatchedEvaluator evaluator(stopped);
      const SearchContext context{.rules = file.rules,
                                  .tactics = file.tactics,
                                  .evaluator = evaluator,
                                  .budget = {Deadline::after(1e6, stop), 200}};
      const auto result = run_search(graph, {.search = search, .search_threads = 2}, context);
      ASSERT_TRUE(result.has_value()) << result.error().message;
      const std::string where = fmt::format("{}, stopped after {} looks", search, looks);
      was_stopped = was_stopped || stopped;
      if (stopped) {
        EXPECT_EQ(result->report.stop_reason, "interrupted") << where;
      }
      EXPECT_LE(evaluator.watched.late, kCosts) << where;
      EXPECT_LE(evaluator.estimating.late, kCosts) << where;
      EXPECT_LE(evaluator.measured_late, 1) << where;
      EXPECT_LE(evaluator.prepared_late, 4) << where;
      EXPECT_LE(latency(result->graph), latency(graph)) << where;
    }
    EXPECT_TRUE(was_stopped) << search << " never asks";
  }
}

TEST(Searches, HaveTheirOwnNamesInTheReportAlsoWithoutTime) {
  const Graph graph = build_model("sru").value();
  const std::map<std::string, std::string> last = {{"auto", "backtrack and beam"},
                                                   {"greedy", "greedy"},
                                                   {"autograph", "autograph"},
                                                   {"backtrack", "backtrack"},
                                                   {"beam", "beam"},
                                                   {"sample", "sample"},
                                                   {"saturate", "saturate"},
                                                   {"enumerate", "enumerate"},
                                                   {"prune", "prune"},
                                                   {"dpp", "dpp"}};
  for (const std::string& search : search_names()) {
    bool stopped = true;
    WatchedEvaluator evaluator(stopped);
    const SearchContext context{
        .rules = {}, .tactics = {}, .evaluator = evaluator, .budget = {.end = Deadline::after(0)}};
    const auto result = run_search(graph, {.search = search}, context);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_TRUE(result->report.algorithm.ends_with(last.at(search))) << search << ": " << result->report.algorithm;
  }
}

/// Folded constants of results that are not the best waste memory.
TEST(Searches, FoldOnlyTheBestResultWhereCostsDecide) {
  class Counting : public CostEvaluator {
   public:
    using CostEvaluator::CostEvaluator;
    Result<Candidate> prepare(const Candidate& candidate) override {
      prepared.push_back(candidate.hash());
      return candidate;
    }
    std::vector<uint64_t> prepared;
  };
  RooflineCost costs;
  const Objective objective;
  Counting evaluator(costs, objective);
  const Graph graph = build_model("squeezenet").value();
  const SearchResult result = found(graph, evaluator, "backtrack");
  ASSERT_LT(latency(result.graph), latency(graph));
  EXPECT_EQ(evaluator.prepared.size(), 3) << "the model, what is simpler, and the result";
  EXPECT_EQ(evaluator.prepared.front(), graph.hash());
  EXPECT_EQ(evaluator.prepared.back(), result.hash());
}

/// The roofline model; counts what all copies are asked.
class Counted : public CostModel {
 public:
  explicit Counted(std::atomic<int>& asked) : asked_(asked) {}
  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary) override {
    ++asked_;
    return costs_.metrics(candidate, boundary);
  }
  Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) override { return costs_.kernels(candidate); }
  std::unique_ptr<CostModel> copy() const override { return std::make_unique<Counted>(asked_); }

 private:
  std::atomic<int>& asked_;
  RooflineCost costs_;
};

/// An engine without costs of its kernels. Runs of it must not be disturbed.
class Undisturbed : public Measured {
 public:
  CostModel* costs() override { return &counted_; }
  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
    const int before = asked_;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    disturbed += asked_ != before;
    ++measured;
    return Measured::measure(current, candidate);
  }

  int measured = 0;
  int disturbed = 0;

 private:
  std::atomic<int> asked_ = 0;
  Counted counted_{asked_};
};

TEST(Searches, MeasureWhileNothingElseRuns) {
  for (const std::string search : {"beam", "greedy"}) {
    Undisturbed engine;
    const RuleFile file = builtin_rule_file().value();
    const SearchContext context{.rules = file.rules, .tactics = file.tactics, .evaluator = engine};
    ASSERT_TRUE(run_search(build_model("squeezenet").value(),
                           {.search = search, .max_candidates = 300, .search_threads = 4}, context)
                    .has_value());
    EXPECT_GT(engine.measured, 1) << search;
    EXPECT_EQ(engine.disturbed, 0) << search;
  }
}

/// Beam search of squeezenet is repeated without two of the rules.
TEST(Searches, FindTheSameOnAnyNumberOfThreads) {
  const RuleFile file = builtin_rule_file().value();
  size_t refused = 0, steps = 0;
  const auto account_of = [&](const Graph& graph, const std::string& search, int64_t threads) {
    RooflineCost costs;
    const Objective latency;
    const Model model = make_model(graph, "model", 17);
    Preparation preparation(model);
    preparation.fold_until(Deadline::never());
    CostEvaluator evaluator(costs, latency, nullptr, &preparation);
    const SearchContext context{.rules = file.rules, .tactics = file.tactics, .evaluator = evaluator};
    SearchOptions options{.search = search, .split = 8, .max_candidates = 200, .search_threads = threads};
    const SearchResult found = run_search(graph, options, context).value();
    steps += found.report.steps.size();
    refused += preparation.refused().size();
    std::string text = account(found);
    for (const auto& [hash, reason] : preparation.refused()) text += fmt::format("{:x}: {}\n", hash, reason);
    return text;
  };
  const Graph squeezenet = build_model("squeezenet").value();
  for (const std::string search : {"backtrack", "beam", "auto"}) {
    for (const Graph& graph : {overflows(), squeezenet}) {
      const std::string expected = account_of(graph, search, 1);
      for (const int64_t threads : {2, 8})
        EXPECT_EQ(account_of(graph, search, threads), expected) << search << ", " << threads << " threads";
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(steps, 0);
}

/// On squeezenet, steps that greedy takes stand in the way of what the other searches find.
TEST(Searches, AutoCostsNoMoreThanAnyOther) {
  for (const char* network : {"squeezenet", "inception-e-1", "nasrnn", "sru"}) {
    const Graph graph = build_model(network).value();
    const auto cost = [&](const std::string& search) {
      RooflineCost costs;
      const Objective objective;
      CostEvaluator evaluator(costs, objective);
      return latency(found(graph, evaluator, search).graph);
    };
    const double by_auto = cost("auto");
    for (const std::string search : {"greedy", "backtrack", "beam", "sample"})
      EXPECT_LE(by_auto, 1.0001 * cost(search)) << network << ", " << search;
  }
}

TEST(Searches, TheCheaperOfTwoSearchesOfAPartCounts) {
  const Graph graph = build_model("squeezenet").value();
  const std::vector<Rule> rules = builtin_rules().value();
  const CandidateCost cost = [costs = RooflineCost()](const Candidate& candidate) mutable {
    return costs.metrics(candidate).map([](const Metrics& metrics) { return metrics.latency_us; });
  };
  std::set<bool> backtracking_is_cheaper;
  for (const SearchOptions& options : {SearchOptions{.alpha = 1, .beam_width = 8}, SearchOptions{.beam_width = 1}}) {
    const auto result = [&](const NamedPartSearch& how) {
      return how.make(options)(graph, rules, cost, {.budget = {.candidates = 300}}).value();
    };
    const FoundCandidate backtracked = result(part_search("backtrack"));
    const FoundCandidate beam = result(part_search("beam"));
    const FoundCandidate both = result(backtrack_and_beam());
    ASSERT_NE(backtracked.cost_after, beam.cost_after);
    backtracking_is_cheaper.insert(backtracked.cost_after < beam.cost_after);
    EXPECT_EQ(both.cost_after, std::min(backtracked.cost_after, beam.cost_after));
    EXPECT_EQ(latency(both.graph), both.cost_after);
    EXPECT_EQ(both.report.candidates, backtracked.report.candidates + beam.report.candidates);
  }
  EXPECT_EQ(backtracking_is_cheaper.size(), 2) << "each of them has to be cheaper once";
}

TEST(Searches, TakeFromTheModelOnlyWhatIsMeasuredToBeFaster) {
  const Graph graph = build_model("squeezenet").value();
  Measured exact;
  const SearchResult best = found(graph, exact);
  const Graph stepwise = found(graph, exact, "greedy").graph;
  ASSERT_LT(latency(best.graph), 0.9 * latency(stepwise));
  Measured disappointing(1, {{best.hash(), latency(graph) / latency(best.graph)}});
  const SearchResult result = found(graph, disappointing);
  EXPECT_NE(result.graph.hash(), best.graph.hash());
  EXPECT_LE(latency(result.graph), latency(stepwise));
}

TEST(Searches, KeepTheGraphWhenNoPromiseOfTheCostsHolds) {
  const Graph graph = build_model("sru").value();
  Estimated slower(100, {{graph.hash(), 1}});
  const SearchResult result = found(graph, slower);
  EXPECT_EQ(result.graph.hash(), graph.hash());
  EXPECT_TRUE(result.report.steps.empty());
}

TEST(Searches, MeasureAllThatTheCostsPromiseAtOnce) {
  const Graph graph = build_model("inception-e-1").value();
  Measured exact;
  const Graph promised = found(graph, exact, "greedy").graph;
  ASSERT_LT(latency(promised), latency(graph));
  // Nothing on the way is faster, so step by step it is never reached.
  const std::map<uint64_t, double> factors = {{graph.hash(), 1}, {promised.hash(), 1}};
  Measured stepwise(100, factors);
  Estimated at_once(100, factors);
  EXPECT_EQ(found(graph, stepwise, "greedy").graph.hash(), graph.hash());
  const SearchResult result = found(graph, at_once);
  EXPECT_EQ(result.graph.hash(), promised.hash());
  ASSERT_FALSE(result.report.steps.empty());
  EXPECT_EQ(result.report.steps.front().speedup, 0) << "no step of these was measured by itself";
}

TEST(Searches, EndWhenMoreTimeIsNotExpectedToPay) {
  const RuleFile file = builtin_rule_file().value();
  const Graph graph = parsed(kGate);
  const auto notes = [&](Evaluator& evaluator, const SearchOptions& options, size_t cores) {
    const SearchContext context{
        .rules = file.rules, .tactics = file.tactics, .evaluator = evaluator, .enough = {0, 0}, .cores = cores};
    return run_search(graph, options, context).value().report.notes;
  };
  Estimated timed;
  EXPECT_THAT(notes(timed, {}, 1), ElementsAre(HasSubstr("more time is not expected to pay")));
  EXPECT_THAT(notes(timed, {.time_budget_seconds = 1000}, 1), IsEmpty());
  EXPECT_THAT(notes(timed, {.search = "backtrack"}, 1), IsEmpty());
  EXPECT_THAT(notes(timed, {}, 2), IsEmpty());
  Measured without_costs_to_rely_on;
  EXPECT_THAT(notes(without_costs_to_rely_on, {}, 1), IsEmpty());
}

/// Likewise, for a model whose runs take minutes.
class Slow : public Estimated {
 public:
  using Estimated::Estimated;
  CostModel* costs() override { return &costs_; }
  Result<Interval> measure(const Candidate&, const Candidate&) override { return fail("it would take too long"); }

 private:
  struct Minutes : RooflineCost {
    Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary) override {
      return RooflineCost::metrics(candidate, boundary).map([](Metrics metrics) {
        metrics.latency_us = 100e6;
        return metrics;
      });
    }
  };
  Minutes costs_;
};

TEST(Searches, LeaveTheMeasurementOfALargeModelToTheConfirmation) {
  const Graph graph = build_model("inception-e-1").value();
  Measured exact;
  const Graph promised = found(graph, exact, "greedy").graph;
  const RuleFile file = builtin_rule_file().value();
  Slow slow;
  SearchContext context{.rules = file.rules, .tactics = file.tactics, .evaluator = slow};
  context.budget.end = Deadline::after(1000);
  const SearchResult result = run_search(graph, {}, context).value();
  EXPECT_EQ(result.graph.hash(), promised.hash());
  EXPECT_EQ(result.report.algorithm, "greedy by costs");
  EXPECT_TRUE(result.report.rejected.empty());
  context.budget.end = Deadline::after(100'000);
  EXPECT_EQ(run_search(graph, {}, context)->graph.hash(), graph.hash()) << "there is time to measure it";
}

TEST(Searches, MeasureStepsOnlyWhereRunsDoNotConfirmTheCosts) {
  const Graph graph = build_model("inception-e-1").value();
  Measured measured;
  const Graph promised = found(graph, measured, "greedy").graph;
  Estimated exact;
  EXPECT_TRUE(found(graph, exact).report.algorithm.starts_with("greedy by costs, backtrack and beam"));
  const double gain = latency(graph) / latency(promised);
  Estimated disappointing(1, {{promised.hash(), gain / std::pow(gain, 0.4)}});
  EXPECT_TRUE(found(graph, disappointing).report.algorithm.starts_with("greedy by costs, greedy, backtrack and beam"));
}

TEST(Searches, TakeStepsThatAreFasterThanWhatTheCostsPromise) {
  const Graph graph = build_model("sru").value();
  Measured exact;
  const Graph promised = found(graph, exact, "greedy").graph;
  const double factor = 0.99 * latency(graph) / latency(promised);  // hardly faster than the graph
  Estimated disappointing(1, {{promised.hash(), factor}});
  const SearchResult result = found(graph, disappointing);
  EXPECT_NE(result.graph.hash(), promised.hash());
  EXPECT_LT(latency(result.graph), factor * latency(promised));
}

TEST(Searches, WhereKernelsCanRunAtTheSameTimeTheCriticalPathCounts) {
  const Graph graph = build_model("inception-e-1").value();
  const RuleFile file = builtin_rule_file().value();
  for (const size_t cores : {1, 2}) {
    Estimated evaluator;
    const SearchContext context{.rules = file.rules, .tactics = file.tactics, .evaluator = evaluator, .cores = cores};
    const SearchResult result = run_search(graph, {}, context).value();
    EXPECT_EQ(result.report.algorithm.find("autograph") != std::string::npos, cores > 1) << result.report.algorithm;
    EXPECT_EQ(result.report.measured.empty(), cores == 1);
    expect_same_meaning(graph, result.graph);
  }
}

/// Returns the block that a rule chooses, which replaces three kernels; 0 if it is not applied.
int64_t chosen_block(const std::string& search, const std::vector<int64_t>& blocks) {
  const auto rules = parse_rules(
      "rule r (Softmax axis=0 (Softmax axis=0 (Softmax axis=0 ?x))) choose block ?m in [8, 16] "
      "=> (Slice axes=[0] starts=[0] ends=[?m] steps=[1] (Softmax axis=0 ?x)) where rank(?x) == 1");
  const Graph graph =
      parsed("input x: f32[4]\na = Softmax(x) {axis=0}\nb = Softmax(a) {axis=0}\nc = Softmax(b) {axis=0}\nreturn c");
  RooflineCost costs({}, {.channel_blocks = blocks});
  const Objective objective;
  CostEvaluator evaluator(costs, objective);
  const SearchContext context{.rules = rules.value(), .tactics = {}, .evaluator = evaluator};
  const SearchResult result = run_search(graph, {.search = search}, context).value();
  for (const Node& node : result.graph.nodes())
    if (node.op->name == "Slice") return std::get<Ints>(*node.attrs.find("ends")).at(0);
  return 0;
}

TEST(Searches, ChooseTheBlocksThatTheDevicePrefers) {
  for (const std::string& search : search_names()) {
    EXPECT_EQ(chosen_block(search, {8}), 8) << search;
    EXPECT_EQ(chosen_block(search, {16}), 16) << search;
    EXPECT_EQ(chosen_block(search, {4}), 0) << search;
    EXPECT_NE(chosen_block(search, {}), 0) << search;
  }
}

}  // namespace
}  // namespace isomer
