#include "isomer/optimize/searches.h"

#include <gtest/gtest.h>

#include <map>

#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/optimize/predicting_oracle.h"
#include "isomer/rules/builtin.h"

namespace isomer {
namespace {

/// An engine that does what the roofline says, but takes `factors` times as long for some graphs.
class Measured : public Oracle {
 public:
  explicit Measured(double otherwise = 1, std::map<uint64_t, double> factors = {})
      : otherwise_(otherwise), factors_(std::move(factors)) {}

  Result<Interval> speedup(const Graph& current, const Graph& candidate) override {
    const double ratio = latency(current) / latency(candidate);
    return Interval{ratio, ratio - 0.001, ratio + 0.001};
  }

 private:
  double latency(const Graph& graph) {
    const auto known = factors_.find(graph.hash());
    return (known == factors_.end() ? otherwise_ : known->second) * costs_.metrics(graph).value().latency_us;
  }

  const double otherwise_;
  const std::map<uint64_t, double> factors_;
  RooflineCost costs_;
};

double latency(const Graph& graph) { return RooflineCost().metrics(graph).value().latency_us; }

/// What a search finds with a measuring oracle and, where that is asked for, the roofline's foresight.
SearchResult found(const Graph& graph, Oracle& measured, bool foresight, const std::string& search = "auto") {
  const RuleFile file = builtin_rule_file().value();
  RooflineCost costs;
  const Objective latency;
  PredictingOracle predicting(costs, latency, nullptr);
  const SearchContext context{.rules = file.rules,
                              .tactics = file.tactics,
                              .costs = costs,
                              .oracle = measured,
                              .foresight = foresight ? &predicting : nullptr,
                              .symbols = {},
                              .objective = [&](const Metrics& metrics) { return latency(metrics); },
                              .prepare = [](const Graph& next) { return next; },
                              .admits = [](const Graph&) { return true; },
                              .progress = [](const std::string&) {}};
  return run_search(graph, {.search = search, .time_budget_seconds = 1e6}, context).value();
}

/// The roofline, and what was asked of it after `stopped`.
class Watched : public CostModel {
 public:
  explicit Watched(const bool& stopped) : stopped_(stopped) {}
  Result<Metrics> metrics(const Graph& graph, const Boundary& boundary) override {
    late += stopped_ ? 1 : 0;
    return costs_.metrics(graph, boundary);
  }
  Result<std::vector<PlannedKernel>> kernels(const Graph& graph) override { return costs_.kernels(graph); }

  int late = 0;

 private:
  const bool& stopped_;
  RooflineCost costs_;
};

class WatchedOracle : public Measured {
 public:
  explicit WatchedOracle(const bool& stopped) : stopped_(stopped) {}
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override {
    late += stopped_ ? 1 : 0;
    return Measured::speedup(current, candidate);
  }

  int late = 0;

 private:
  const bool& stopped_;
};

TEST(Searches, EndSoonAfterTheyAreAskedTo) {
  constexpr int kCosts = 12;  // for the report: before and after the step that was being taken
  const RuleFile file = builtin_rule_file().value();
  const Graph graph = build_model("sru").value();
  for (const std::string& search : search_names()) {
    bool was_stopped = false;
    for (const int looks : {0, 1, 10, 100, 1000, 3000, 10000}) {
      int asked = 0;
      bool stopped = false;
      const auto stop = [&] { return stopped = stopped || ++asked > looks; };
      Watched costs(stopped), foreseen(stopped);
      WatchedOracle oracle(stopped);
      const Objective latency;
      PredictingOracle predicting(foreseen, latency, nullptr);
      int prepared_late = 0;
      const SearchContext context{.rules = file.rules,
                                  .tactics = file.tactics,
                                  .costs = costs,
                                  .oracle = oracle,
                                  .foresight = &predicting,
                                  .symbols = {},
                                  .objective = [&](const Metrics& metrics) { return latency(metrics); },
                                  .prepare =
                                      [&](const Graph& next) {
                                        prepared_late += stopped ? 1 : 0;
                                        return next;
                                      },
                                  .admits = [](const Graph&) { return true; },
                                  .progress = [](const std::string&) {},
                                  .deadline = Deadline::after(1e6, stop)};
      const auto result = run_search(graph, {.search = search, .max_candidates = 200}, context);
      ASSERT_TRUE(result.has_value()) << result.error().message;
      const std::string where = fmt::format("{}, stopped after {} looks", search, looks);
      was_stopped = was_stopped || stopped;
      if (stopped) {
        EXPECT_EQ(result->report.stop_reason, "interrupted") << where;
      }
      EXPECT_LE(costs.late, kCosts) << where;
      EXPECT_LE(foreseen.late, kCosts) << where;
      EXPECT_LE(oracle.late, 1) << where;
      EXPECT_LE(prepared_late, 4) << where;
      EXPECT_LE(latency.guided(costs.metrics(result->graph, {}).value()),
                latency.guided(costs.metrics(graph, {}).value()))
          << where;
    }
    EXPECT_TRUE(was_stopped) << search << " never asks";
  }
}

TEST(Searches, KeepTheGraphWhenNoPromiseOfTheCostsHolds) {
  const Graph graph = build_model("sru").value();
  Measured slower(100, {{graph.hash(), 1}});
  const SearchResult result = found(graph, slower, true);
  EXPECT_EQ(result.graph.hash(), graph.hash());
  EXPECT_TRUE(result.report.steps.empty());
}

TEST(Searches, MeasureAllThatTheCostsPromiseAtOnce) {
  const Graph graph = build_model("sru").value();
  Measured exact;
  const Graph promised = found(graph, exact, false, "greedy").graph;
  ASSERT_LT(latency(promised), latency(graph));
  // Nothing on the way there is faster: step by step it is never reached.
  const std::map<uint64_t, double> factors = {{graph.hash(), 1}, {promised.hash(), 1}};
  Measured stepwise(100, factors), at_once(100, factors);
  EXPECT_EQ(found(graph, stepwise, false, "greedy").graph.hash(), graph.hash());
  const SearchResult result = found(graph, at_once, true);
  EXPECT_EQ(result.graph.hash(), promised.hash());
  ASSERT_FALSE(result.report.steps.empty());
  EXPECT_EQ(result.report.steps.front().speedup, 0) << "no step of these was measured by itself";
}

TEST(Searches, TakeStepsThatAreFasterThanWhatTheCostsPromise) {
  const Graph graph = build_model("sru").value();
  Measured exact;
  const Graph promised = found(graph, exact, false, "greedy").graph;
  const double factor = 0.99 * latency(graph) / latency(promised);  // hardly faster than the graph
  Measured disappointing(1, {{promised.hash(), factor}});
  const SearchResult result = found(graph, disappointing, true);
  EXPECT_NE(result.graph.hash(), promised.hash());
  EXPECT_LT(latency(result.graph), factor * latency(promised));
}

}  // namespace
}  // namespace isomer
