#include "isomer/search/autograph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "isomer/cost/kernel_tasks.h"
#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/plan/simulate.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/mixed_cost.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// A device with several equal cores, each so slow that arithmetic takes most of the time.
class Cores : public CostEvaluator {
 public:
  explicit Cores(uint32_t cores) : CostEvaluator(costs_, latency_), cores_(cores) {}

  double makespan_us(const Graph& graph) {
    const auto tasks = kernel_tasks(graph, costs_.kernels(graph).value(), cores_).graph;
    return 1e-3 * static_cast<double>(simulate(tasks).value().makespan);
  }
  double latency_us(const Graph& graph) { return costs_.metrics(graph).value().latency_us; }

  Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
    const double ratio = makespan_us(current.graph) / makespan_us(candidate.graph);
    return Interval{ratio, ratio - 1e-6, ratio + 1e-6};
  }
  bool costs_decide() const override { return false; }

 private:
  RooflineCost costs_{{}, {.flops_per_second = 1e9, .bytes_per_second = 1e12}};
  const Objective latency_;
  const uint32_t cores_;
};

SearchResult found(const Graph& graph, Evaluator& evaluator, const SearchOptions& options = {},
                   const std::vector<Rule>& rules = builtin_rules().value()) {
  const SearchContext context{.rules = rules, .tactics = {}, .evaluator = evaluator, .cores = 2};
  return autograph_search(graph, options, context, false);
}

/// Two pairs of convolutions that read one value and are joined, so that each pair can become one.
const char* const kSideBySide = R"(
  input x: f32[1,8,16,16]
  v = f32[8,8,3,3]{seed 1}
  w = f32[8,8,3,3]{seed 2}
  a = Conv(x, v) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  b = Conv(x, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  c = Relu(a)
  d = Relu(b)
  s = Concat(c, d) {axis=1}
  t = f32[8,16,3,3]{seed 3}
  u = f32[8,16,3,3]{seed 4}
  e = Conv(s, t) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  f = Conv(s, u) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  g = Relu(e)
  h = Relu(f)
  y = Concat(g, h) {axis=1}
  return y)";

TEST(Autograph, MergesBranchesForOneCoreOnly) {
  const Graph graph = parsed(kSideBySide);
  Cores one(1), two(2);
  const SearchOptions by_sums{.critical_path_weight = 0};  // so that merging comes first
  const SearchResult merged = found(graph, one, by_sums);
  ASSERT_FALSE(merged.report.steps.empty());
  EXPECT_LT(one.latency_us(merged.graph), one.latency_us(graph));
  EXPECT_GT(two.makespan_us(merged.graph), 1.5 * two.makespan_us(graph));
  const SearchResult kept = found(graph, two, by_sums);
  EXPECT_LE(two.makespan_us(kept.graph), two.makespan_us(graph));
  EXPECT_NE(kept.graph.hash(), merged.graph.hash());
  const auto slower = std::ranges::find(kept.report.measured, merged.graph.hash(), &MeasuredGraph::hash);
  ASSERT_NE(slower, kept.report.measured.end()) << "it is tried, too";
  EXPECT_LT(slower->speedup.value, 0.7);
}

TEST(Autograph, TheWeightOfTheCriticalPathDecidesWhatIsMeasuredFirst) {
  const Graph graph = parsed(kSideBySide);
  Cores one(1);
  const auto cost = [&](const Graph& of, double weight) {
    const Metrics metrics = one.costs()->metrics(of).value();
    return metrics.latency_us + weight * metrics.critical_path_us;
  };
  const Graph merged = found(graph, one, {.critical_path_weight = 0}).graph;
  ASSERT_LT(cost(merged, 0), cost(graph, 0));
  ASSERT_GT(cost(merged, 1), cost(graph, 1));
  Cores two(2);  // on which it is not faster, so that there is one round
  for (const double weight : {0.0, 1.0}) {
    const std::vector<MeasuredGraph> measured = found(graph, two, {.critical_path_weight = weight}).report.measured;
    ASSERT_GT(measured.size(), 1);
    EXPECT_TRUE(std::ranges::is_sorted(measured, {}, &MeasuredGraph::cost));
    EXPECT_EQ(measured.front().hash == merged.hash(), weight == 0);
    for (const MeasuredGraph& graph_of : measured)
      EXPECT_NEAR(graph_of.cost, graph_of.latency_us + weight * graph_of.critical_path_us, 1e-9);
  }
}

/// A rule that matches across the border of two parts, between which the graph is always cut.
TEST(Autograph, SearchesNeighboringPartsTogether) {
  const Graph graph = parsed("input x: f32[8,8]\na = Neg(x)\nb = Neg(a)\nc = Neg(b)\nd = Neg(c)\nreturn d");
  const auto rules = rules_of("rule cancel (Neg (Neg ?x)) => ?x");
  Cores cores(2);
  const auto left = [&](int64_t merge) {
    return found(graph, cores, {.autograph_split = 1, .autograph_merge = merge}, rules).graph.nodes().size();
  };
  EXPECT_EQ(left(0), graph.nodes().size());
  EXPECT_EQ(left(2), 1) << "pairs are searched together";
  EXPECT_EQ(left(4), 1);
}

TEST(Autograph, TheResultIsTheFastestOfThoseThatWereMeasured) {
  for (const std::string network : {"inception-e-1", "sru-11"}) {
    const Graph graph = build_model(network).value();
    Cores cores(2);
    const SearchResult result =
        found(graph, cores, {.search_threads = 1, .autograph_split = 10, .autograph_merge = 30, .autograph_top = 5});
    const double gain = cores.makespan_us(graph) / cores.makespan_us(result.graph);
    EXPECT_GT(gain, 1) << network;
    double best = 1;
    std::set<uint64_t> measured;
    for (const MeasuredGraph& one : result.report.measured) {
      best = std::max(best, one.speedup.value);
      EXPECT_TRUE(measured.insert(one.hash).second) << "measured twice";
      EXPECT_NEAR(one.speedup.value, cores.makespan_us(graph) / one.makespan_us, 1e-6);
      EXPECT_GE(one.makespan_us, one.critical_path_us * (1 - 1e-6));
      EXPECT_GE(one.makespan_us, one.latency_us / 2 * (1 - 1e-6));
    }
    EXPECT_NEAR(gain, best, 1e-6) << network;
    EXPECT_FALSE(result.report.steps.empty());
    ASSERT_FALSE(result.report.progress.empty());
    expect_same_meaning(graph, result.graph);
    EXPECT_EQ(account(found(graph, cores,
                            {.search_threads = 3, .autograph_split = 10, .autograph_merge = 30, .autograph_top = 5})),
              account(result));
  }
}

/// Sums of the deltas of steps are changes of the objective, not of the mixed cost.
TEST(Autograph, StepsSayWhatTheyChange) {
  const Graph graph = build_model("sru-11").value();
  Cores cores(2);
  const SearchResult result = found(graph, cores);
  ASSERT_FALSE(result.report.steps.empty());
  double latency = cores.latency_us(graph);
  for (const SearchStep& step : result.report.steps) latency += step.delta;
  EXPECT_NEAR(latency, cores.latency_us(result.graph), 1e-9);
  ASSERT_FALSE(result.report.progress.empty());
  EXPECT_NEAR(result.report.progress.back().cost, cores.latency_us(result.graph), 1e-9);
}

TEST(Autograph, APathDoesNotCountForAnObjectiveInAnotherUnit) {
  RooflineCost costs;
  const Metrics metrics{.latency_us = 8, .kernels = 3, .critical_path_us = 4};
  for (const auto& [text, cost] : {std::pair("latency_us", 9.0), std::pair("2 * kernels", 6.0)}) {
    const Objective objective = Objective::parse(text).value();
    CostEvaluator evaluator(costs, objective);
    EXPECT_EQ(MixedCost(evaluator, 0.25).objective(metrics), cost);
  }
}

/// After an interrupt in the first round, nothing is measured, but what was found is not lost.
TEST(Autograph, AnInterruptLeavesTheBestGraphByCosts) {
  const Graph graph = build_model("sru-11").value();
  const std::vector<Rule> rules = builtin_rules().value();
  for (const bool known_better : {false, true}) {
    Cores cores(2);
    bool stop = false;
    const Observer observer{[&](const std::string& activity) {
      constexpr std::string_view kRun = "searching run ";
      if (!activity.starts_with(kRun)) return;
      const std::string run = activity.substr(kRun.size());  // "7 of 7" is the last one
      const size_t of = run.find(" of ");
      stop = run.substr(0, of) == run.substr(of + 4);
    }};
    const SearchContext context{.rules = rules,
                                .tactics = {},
                                .evaluator = cores,
                                .budget = {.end = Deadline::after(1000, [&] { return stop; })},
                                .cores = 2,
                                .observer = observer};
    const SearchResult result =
        autograph_search(graph, {.autograph_split = 4, .autograph_merge = 12}, context, known_better);
    EXPECT_EQ(result.report.stop_reason, "interrupted");
    EXPECT_TRUE(result.report.measured.empty());
    EXPECT_EQ(result.report.steps.empty(), known_better);
    EXPECT_EQ(result.graph.hash() == graph.hash(), known_better);
  }
}

TEST(Autograph, WithoutTimeTheGraphStaysAsItIs) {
  const Graph graph = parsed(kSideBySide);
  Cores cores(1);
  const std::vector<Rule> rules = builtin_rules().value();
  const SearchContext context{
      .rules = rules, .tactics = {}, .evaluator = cores, .budget = {.end = Deadline::after(0)}, .cores = 2};
  const SearchResult result = autograph_search(graph, {}, context, false);
  EXPECT_EQ(result.graph.hash(), graph.hash());
  EXPECT_EQ(result.report.stop_reason, "time budget");
}

}  // namespace
}  // namespace isomer
