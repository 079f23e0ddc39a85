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
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// A device with several equal cores, each so slow that arithmetic takes most of the time.
class Cores : public CostEvaluator {
 public:
  explicit Cores(uint32_t cores) : CostEvaluator(costs_, latency_), cores_(cores) {}

  double makespan_us(const Graph& graph) {
    const auto tasks = kernel_tasks(graph, costs_.kernels(graph).value(), cores_);
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
  return autograph_search(graph, options, context);
}

/// Convolutions that read one value and are joined, so that they can become one.
const char* const kSideBySide = R"(
  input x: f32[1,8,16,16]
  v = f32[8,8,3,3]{seed 1}
  w = f32[8,8,3,3]{seed 2}
  a = Conv(x, v) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  b = Conv(x, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  c = Relu(a)
  d = Relu(b)
  s = Concat(c, d) {axis=1}
  return s)";

TEST(Autograph, MergesBranchesForOneCoreOnly) {
  const Graph graph = parsed(kSideBySide);
  Cores one(1), two(2);
  const SearchResult merged = found(graph, one);
  ASSERT_FALSE(merged.report.steps.empty());
  EXPECT_LT(one.latency_us(merged.graph), one.latency_us(graph));
  EXPECT_GT(two.makespan_us(merged.graph), 1.5 * two.makespan_us(graph));
  const SearchResult kept = found(graph, two);
  EXPECT_LE(two.makespan_us(kept.graph), two.makespan_us(graph));
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
  for (const double weight : {0.0, 0.25, 1.0}) {
    const SearchResult result = found(graph, one, {.critical_path_weight = weight});
    for (const MeasuredGraph& one_of : result.report.measured)
      EXPECT_NEAR(one_of.cost, one_of.latency_us + weight * one_of.critical_path_us, 1e-9);
  }
  EXPECT_EQ(found(graph, one, {.critical_path_weight = 0}).report.measured.front().hash, merged.hash());
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
    const SearchResult result = found(graph, cores, {.autograph_split = 10, .autograph_merge = 30, .autograph_top = 5});
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
    EXPECT_EQ(account(found(graph, cores, {.autograph_split = 10, .autograph_merge = 30, .autograph_top = 5})),
              account(result));
  }
}

TEST(Autograph, WithoutTimeTheGraphStaysAsItIs) {
  const Graph graph = parsed(kSideBySide);
  Cores cores(1);
  const std::vector<Rule> rules = builtin_rules().value();
  const SearchContext context{
      .rules = rules, .tactics = {}, .evaluator = cores, .budget = {.end = Deadline::after(0)}, .cores = 2};
  const SearchResult result = autograph_search(graph, {}, context);
  EXPECT_EQ(result.graph.hash(), graph.hash());
  EXPECT_EQ(result.report.stop_reason, "time budget");
}

}  // namespace
}  // namespace isomer
