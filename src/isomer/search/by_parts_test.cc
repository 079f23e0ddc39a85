#include "isomer/search/by_parts.h"

#include <atomic>
#include <thread>
#include <utility>

#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/part_searches.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Three blocks x' = tanh(x v + x w), so that splitting has something to do.
Graph blocks() {
  std::string text = "input x0: f32[2,8]\n";
  for (int i = 0; i < 3; ++i) text += sum_of_products(i) + fmt::format("x{1} = Tanh(s{0})\n", i, i + 1);
  return parsed(text + "return x3\n");
}

TEST(SearchByParts, PartsAndCutsGiveWhatTheWholeGives) {
  const Graph graph = blocks();
  const auto rules = builtin_rules();
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  const double before = costs.metrics(graph)->latency_us;
  double whole = 0;
  for (const size_t split : {100, 8, 5, 2}) {
    const auto found = search_by_parts(graph, *rules, evaluator,
                                       {.search = part_search("backtrack").make({.alpha = 1.1}),
                                        .split = split,
                                        .limits = {.budget = {.candidates = 2000}}});
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(verify_graph(found->graph).has_value());
    expect_same_meaning(graph, found->graph);
    const double after = costs.metrics(found->graph)->latency_us;
    EXPECT_LE(after, before);
    double change = 0;
    for (const SearchStep& step : found->report.steps) change += step.delta;
    EXPECT_NEAR(before + change, after, 1e-9) << "split " << split;
    if (split == 100) whole = after;
    if (split >= 5) {
      EXPECT_DOUBLE_EQ(after, whole) << "split " << split;
    }
  }
  EXPECT_LT(whole, before);
}

TEST(SearchByParts, APartMayBecomeItsOwnInput) {
  const Graph graph = parsed(R"(
    input x: f32[4,8]
    a = Transpose(x) {perm=[1,0]}
    b = Transpose(a) {perm=[1,0]}
    c = CumSum(b) {axis=0}
    return c)");
  const auto rules = builtin_rules();
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  const auto found = search_by_parts(graph, *rules, evaluator,
                                     {.search = part_search("backtrack").make({.alpha = 1.1}),
                                      .split = 2,
                                      .limits = {.budget = {.candidates = 2000}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(run_time_nodes(found->graph).size(), 1U);
  expect_same_meaning(graph, found->graph);
}

/// Takes joined products for cheap until they are measured again.
class Optimistic : public RooflineCost {
 public:
  explicit Optimistic(double factor) : factor_(factor) {}

  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary) override {
    auto out = RooflineCost::metrics(candidate, boundary);
    if (out && joins(candidate.graph)) out->latency_us *= times == 0 ? 0.1 : factor_;
    return out;
  }
  Result<bool> measure_again(std::span<const Candidate* const> candidates, const Boundary&) override {
    EXPECT_EQ(candidates.size(), 2U);
    return joins(candidates[0]->graph) != joins(candidates[1]->graph) && times++ == 0;
  }
  std::unique_ptr<CostModel> copy() const override { return nullptr; }
  std::unique_ptr<RewriteCosts> rewrites_of(const Graph&) override { return nullptr; }

  int times = 0;  // measured again

 private:
  static bool joins(const Graph& graph) {
    return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
      return graph.runs(node) && node.op->name == "MatMul" && (*graph.type(node.result()).shape)[1].is(16);
    });
  }

  const double factor_;
};

SearchResult found_by(CostModel& costs, const Graph& graph) {
  const auto rules = builtin_rules();
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  return search_by_parts(
             graph, *rules, evaluator,
             {.search = part_search("backtrack").make({.alpha = 1.1}), .limits = {.budget = {.candidates = 2000}}})
      .value();
}

TEST(SearchByParts, SearchesAgainWhereAResultIsNoCheaperWhenItIsMeasuredAgain) {
  const std::string products = "v = f32[8,8]{seed 1}\nw = f32[8,8]{seed 2}\na = MatMul(x, v)\nb = MatMul(x, w)\n";
  const Graph graph = parsed("input x: f32[2,8]\n" + products + "return a, b");
  Optimistic costly(5);
  const SearchResult none = found_by(costly, graph);
  EXPECT_GT(costly.times, 0) << "the search has joined the products";
  EXPECT_EQ(none.hash(), graph.hash());
  EXPECT_TRUE(none.report.steps.empty());
  const Graph twice = parsed("input x: f32[2,8]\n" + products + "t = Transpose(a) {perm=[1,0]}\n" +
                             "u = Transpose(t) {perm=[1,0]}\nreturn u, b");
  Optimistic costlier(5);
  EXPECT_EQ(found_by(costlier, twice).hash(), graph.hash()) << "what pays by the corrected costs is found";
  EXPECT_GT(costlier.times, 0);
}

TEST(SearchByParts, CorrectsCostsOfWhatIsMeasuredAgain) {
  const Graph graph = parsed(
      "input x: f32[2,8]\nv = f32[8,8]{seed 1}\nw = f32[8,8]{seed 2}\na = MatMul(x, v)\nb = MatMul(x, w)\nreturn a, b");
  Optimistic costs(0.7);
  const double before = costs.metrics(graph, {})->latency_us;
  const SearchResult found = found_by(costs, graph);
  EXPECT_EQ(costs.times, 1);
  EXPECT_NE(found.hash(), graph.hash());
  double change = 0;
  for (const SearchStep& step : found.report.steps) change += step.delta;
  EXPECT_NEAR(before + change, costs.metrics(found, {})->latency_us, 1e-9);
}

/// What a search of parts finds, counts and refuses.
struct Account {
  std::string text;
  size_t refused = 0;
  size_t steps = 0;
};

Account account_of(const Graph& graph, const std::string& search, const Objective& objective, int threads) {
  RooflineCost costs;
  const Model model = make_model(graph, "model", 17);
  Preparation preparation(model);
  preparation.fold_until(Deadline::never());
  CostEvaluator evaluator(costs, objective, nullptr, &preparation);
  const auto found = search_by_parts(graph, *builtin_rules(), evaluator,
                                     {.search = part_search(search).make({.extract_seconds = 1000}),
                                      .split = 6,
                                      .limits = {.budget = {.candidates = 300}},
                                      .threads = threads});
  std::string text = found ? account(*found) : found.error().message;
  for (const auto& [hash, reason] : preparation.refused()) text += fmt::format("{:x}: {}\n", hash, reason);
  return {std::move(text), preparation.refused().size(), found ? found->report.steps.size() : 0};
}

TEST(SearchByParts, SameResultOnAnyNumberOfThreads) {
  const Objective latency;
  const Objective memory = Objective::parse("latency_us + peak_bytes / 1e5").value();
  const Graph squeezenet = build_model("squeezenet").value();
  size_t refused = 0;
  for (const std::string search : {"backtrack", "beam", "sample", "saturate"}) {
    for (const Objective& objective : {latency, memory}) {
      size_t steps = 0;
      for (const Graph& graph : {blocks(), overflows(), squeezenet}) {
        if (search == "saturate" && graph.hash() == squeezenet.hash()) continue;  // slow
        const Account expected = account_of(graph, search, objective, 1);
        for (const int threads : {2, 8})
          EXPECT_EQ(account_of(graph, search, objective, threads).text, expected.text)
              << search << ", " << objective.text() << ", " << threads << " threads";
        refused += expected.refused;
        steps += expected.steps;
      }
      EXPECT_GT(steps, 0) << search << ", " << objective.text();
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(SearchByParts, AnInterruptEndsAllThreads) {
  const auto rules = builtin_rules();
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  std::atomic<int> begun = 0, ended = 0;
  const PartSearch endless = [&](const Candidate& part, std::span<const Rule>, const CandidateCost& cost,
                                 const SearchLimits& limits) -> Result<FoundCandidate> {
    ++begun;
    while (!limits.budget.end.passed()) std::this_thread::yield();
    ++ended;
    FoundCandidate out{part, *cost(part), *cost(part)};
    out.report.stop_reason = limits.budget.end.reason();
    return out;
  };
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> elsewhere = false;
  const auto stop = [&] {
    if (std::this_thread::get_id() != caller) elsewhere = true;
    return begun >= 2;
  };
  const Deadline end = Deadline::after(1000, stop);
  const auto found = search_by_parts(blocks(), *rules, evaluator,
                                     {.search = endless, .split = 5, .limits = {.budget = {.end = end}}, .threads = 2});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report.stop_reason, "interrupted");
  EXPECT_EQ(ended, begun);
  EXPECT_FALSE(elsewhere) << "only the calling thread asks";
}

/// The calling thread waits for what another thread searches.
TEST(SearchByParts, AnInterruptEndsWhatAnotherThreadSearches) {
  const auto rules = builtin_rules();
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> begun = false;
  const PartSearch endless_elsewhere = [&](const Candidate& part, std::span<const Rule>, const CandidateCost& cost,
                                           const SearchLimits& limits) -> Result<FoundCandidate> {
    if (std::this_thread::get_id() != caller) {
      begun = true;
      while (!limits.budget.end.passed()) std::this_thread::yield();
    } else {
      while (!begun) std::this_thread::yield();
    }
    return FoundCandidate{part, *cost(part), *cost(part)};
  };
  std::atomic<int> asked = 0;
  const Deadline end = Deadline::after(1000, [&] { return begun && ++asked > 100; });
  const auto found =
      search_by_parts(blocks(), *rules, evaluator,
                      {.search = endless_elsewhere, .split = 5, .limits = {.budget = {.end = end}}, .threads = 2});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report.stop_reason, "interrupted");
}

}  // namespace
}  // namespace isomer
