#include "isomer/search/by_parts.h"

#include <atomic>
#include <thread>

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
