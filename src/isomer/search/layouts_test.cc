#include "isomer/search/layouts.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"
#include "isomer/cost/kernel_cost.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/planner.h"
#include "isomer/engine/stub_testing.h"
#include "isomer/search/by_parts.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/part_searches.h"
#include "isomer/search/searches.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Plans as the built-in runtime does, and makes up the times of kernels.
class MadeUpEngine : public StubEngine {
 public:
  explicit MadeUpEngine(uint64_t seed) : seed_(seed) {}
  const KernelPlanner* planner() const override { return &planner_; }
  std::vector<int64_t> channel_blocks() const override { return {onednn::native_block()}; }
  Result<double> kernel_overhead() override { return 0; }
  Result<KernelTime> time_kernel(const KernelRun& run, double) override {
    uint64_t hash = hash_mix(seed_, run.graph.hash());
    for (const Intake intake : run.intakes) hash = hash_mix(hash, static_cast<uint64_t>(intake));
    if (run.reorder_to) return KernelTime{.us = 50 + static_cast<double>(hash % 100), .runs = 1};
    return KernelTime{.us = 100 + static_cast<double>(hash % 400), .runs = 1};
  }

 private:
  const uint64_t seed_;
  const OnednnPlanner planner_{onednn::native_block()};
};

/// A tree of layers that are each read once, as text.
class RandomTree {
 public:
  explicit RandomTree(uint64_t seed) : rng_(seed) {}

  std::string text(int layers, bool chain) {
    const std::string root = value(layers, chain);
    return inputs_ + layers_ + "return " + root;
  }

 private:
  std::string value(int layers, bool chain) {
    const std::string name = "v" + std::to_string(names_++);
    if (layers == 0) {
      inputs_ += "input " + name + ": f32[1,16,8,8]\n";
      return name;
    }
    if (!chain && layers > 2 && rng_.below(3) == 0) {
      const std::string left = value((layers - 1) / 2, chain), right = value(layers - 1 - (layers - 1) / 2, chain);
      layers_ += name + " = Mul(" + left + ", " + right + ")\n";
      return name;
    }
    const std::string below = value(layers - 1, chain);
    const std::string conv = "Conv(" + below + ", w" + name + ") {strides=[1,1], dilations=[1,1], pads=";
    const std::string weights = "w" + name + " = f32[16,16,";
    const std::string seed = "{seed 1" + name.substr(1) + "}\n";
    const std::vector<std::string> all = {
        weights + "1,1]" + seed + name + " = " + conv + "[0,0,0,0]}",
        weights + "3,3]" + seed + name + " = " + conv + "[1,1,1,1]}",
        name + " = MaxPool(" + below + ") {kernel_shape=[3,3], pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}",
        name + " = Exp(" + below + ")", name + " = Softmax(" + below + ") {axis=3}"};
    layers_ += all[rng_.below(all.size())] + "\n";
    return name;
  }

  Rng rng_;
  int names_ = 0;
  std::string inputs_, layers_;
};

/// Returns the latency with the best layouts of all computed values.
double best_by_trying(const Graph& graph, const Boundary& boundary, CostModel& costs) {
  std::vector<ValueId> values;
  for (const Node& node : graph.nodes())
    if (graph.runs(node)) values.push_back(node.result());
  double best = std::numeric_limits<double>::infinity();
  for (size_t number = 0; number < size_t{1} << values.size(); ++number) {
    Candidate candidate(graph);
    for (size_t i = 0; i < values.size(); ++i)
      candidate.decisions.layouts[values[i]] = (number >> i & 1) != 0 ? Layout::Blocked : Layout::Plain;
    best = std::min(best, costs.metrics(candidate, boundary).value().latency_us);
  }
  return best;
}

void expect_best(bool chain) {
  int better = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::string text = RandomTree(seed).text(5, chain);
    const Graph graph = parsed(text);
    MadeUpEngine engine(seed);
    ProfileDb db = ProfileDb::open({}).value();
    const auto costs = KernelCost::make(engine, db, {}).value();
    Boundary boundary;
    for (size_t i = 0; i < graph.inputs().size(); ++i)
      boundary.inputs.push_back((seed >> i & 1) != 0 ? Layout::Blocked : Layout::Plain);
    boundary.outputs = {(seed & 2) != 0 ? Layout::Blocked : Layout::Plain};
    const double alone = costs->metrics(graph, boundary).value().latency_us;
    const Candidate decided(graph, LayoutChoice(*costs).choose(graph, boundary));
    const double together = costs->metrics(decided, boundary).value().latency_us;
    EXPECT_NEAR(together, best_by_trying(graph, boundary, *costs), 1e-6) << "seed " << seed << "\n" << text;
    if (together < alone - 1e-6) ++better;
  }
  EXPECT_GT(better, 10) << "the plan alone finds the best ones";
}

TEST(LayoutChoice, IsBestOnChains) { expect_best(true); }
TEST(LayoutChoice, IsBestOnTrees) { expect_best(false); }

TEST(LayoutChoice, KeepsWhatIsDecided) {
  const Graph graph = parsed(RandomTree(1).text(5, true));
  MadeUpEngine engine(1);
  ProfileDb db = ProfileDb::open({}).value();
  const auto costs = KernelCost::make(engine, db, {}).value();
  for (const Node& node : graph.nodes()) {
    if (!graph.runs(node)) continue;
    for (const Layout layout : {Layout::Plain, Layout::Blocked}) {
      const Candidate given(graph, {.layouts = {{node.result(), layout}}});
      EXPECT_EQ(LayoutChoice(*costs).choose(given, {}).layout(node.result()), layout);
    }
    const Decisions twice{.computations = {{node.result(), Computation::Twice}}};
    Decisions expected = LayoutChoice(*costs).choose(graph, {});
    expected.computations = twice.computations;
    EXPECT_EQ(LayoutChoice(*costs).choose({graph, twice}, {}), expected);
  }
}

TEST(LayoutChoice, LowersTheCostOfWhatASearchFinds) {
  const auto rules = rules_of("rule twice (MaxPool ..a (Relu ?x)) => (Relu (MaxPool ..a ?x))");
  int lower = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = parsed(RandomTree(seed).text(14, false));
    MadeUpEngine engine(seed);
    ProfileDb db = ProfileDb::open({}).value();
    const auto costs = KernelCost::make(engine, db, {}).value();
    const Objective latency;
    CostEvaluator evaluator(*costs, latency);
    const auto search = [&](LayoutTime layouts) {
      return search_by_parts(
                 graph, rules, evaluator,
                 {.search = part_search("beam").make({}), .split = 6, .layouts = layouts, .limits = {.max_growth = 2}})
          .value();
    };
    const SearchResult plain = search(LayoutTime::Never);
    const double without = *evaluator.cost(plain);
    EXPECT_TRUE(plain.decisions.empty());
    for (const LayoutTime time : {LayoutTime::AfterSearch, LayoutTime::EachCandidate}) {
      const SearchResult found = search(time);
      const double with = *evaluator.cost(found);
      EXPECT_LE(with, *evaluator.cost(graph));
      if (time == LayoutTime::AfterSearch) {
        EXPECT_LE(with, without) << "seed " << seed;
      }
      EXPECT_LE(with, *evaluator.cost(found.graph)) << "with its decisions, seed " << seed;
      if (with < without) ++lower;
    }
  }
  EXPECT_GT(lower, 10);
}

TEST(LayoutChoice, HasANameForEachUse) {
  struct Uses {
    int rewritten = 0, decided = 0, kernels = 0;
  };
  constexpr int kGraphs = 12;
  const auto rules =
      rules_of("rule twice (Exp (Exp ?x)) => (Exp ?x)\nrule longer (Softmax ..a ?x) => (Relu (Softmax ..a ?x))");
  std::map<std::string, Uses> uses;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    std::string text = RandomTree(seed).text(7, true);
    text.replace(text.find("return"), std::string::npos, "e = Exp(v0)\nf = Exp(e)\nreturn f");
    const Graph graph = parsed(text);
    for (const char* const layout : {"substitution", "layout", "sequential", "joint"}) {
      MadeUpEngine engine(seed);
      ProfileDb db = ProfileDb::open({}).value();
      const auto costs = KernelCost::make(engine, db, {}).value();
      const Objective latency;
      CostEvaluator evaluator(*costs, latency);
      SearchOptions options;
      options.search = "beam";
      options.layout = layout;
      const SearchResult found =
          run_search(graph, options, {.rules = rules, .tactics = {}, .evaluator = evaluator}).value();
      uses[layout].rewritten += found.report.steps.empty() ? 0 : 1;
      uses[layout].decided += found.decisions.empty() ? 0 : 1;
      uses[layout].kernels += static_cast<int>(costs->measured());
    }
  }
  EXPECT_EQ(uses["substitution"].rewritten, kGraphs);
  EXPECT_EQ(uses["substitution"].decided, 0);
  EXPECT_EQ(uses["layout"].rewritten, 0);
  EXPECT_GT(uses["layout"].decided, 0);
  EXPECT_EQ(uses["sequential"].rewritten, kGraphs);
  EXPECT_GT(uses["sequential"].decided, 0);
  EXPECT_EQ(uses["joint"].rewritten, kGraphs);
  EXPECT_GT(uses["joint"].decided, 0);
  EXPECT_GT(uses["joint"].kernels, uses["sequential"].kernels) << "all candidates are costed in several layouts";
}

}  // namespace
}  // namespace isomer
