// How fast the searches go: matching, candidates a second, simplification. Build with -DISOMER_BENCHMARKS=ON.

#include <benchmark/benchmark.h>

#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/matches.h"
#include "isomer/search/part_searches.h"
#include "isomer/search/simplify.h"

namespace isomer {
namespace {

void match(benchmark::State& state, const char* network) {
  const Graph graph = build_model(network).value();
  const std::vector<Rule> rules = builtin_rules().value();
  size_t found = 0;
  for (auto _ : state) benchmark::DoNotOptimize(found = all_matches(graph, rules).size());
  state.counters["matches"] = static_cast<double>(found);
}

void backtracking(benchmark::State& state, const char* network) {
  const Graph graph = build_model(network).value();
  const std::vector<Rule> rules = builtin_rules().value();
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  const PartsOptions options = {.search = part_search("backtrack").make({})};
  int64_t candidates = 0;
  for (auto _ : state) candidates += search_by_parts(graph, rules, evaluator, options).value().report.candidates;
  state.SetItemsProcessed(candidates);
}

void simplification(benchmark::State& state, const char* network) {
  const Graph graph = build_model(network).value();
  const std::vector<Rule> rules = builtin_rules().value();
  for (auto _ : state) {
    ExhaustiveRewriter rewriter(rules);
    benchmark::DoNotOptimize(simplify(graph, rewriter, {}));
  }
}

BENCHMARK_CAPTURE(match, inception_v3, "inception-v3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(match, nasnet_mobile, "nasnet-mobile")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(backtracking, inception_e_2, "inception-e-2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(backtracking, nasrnn, "nasrnn")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(backtracking, googlenet, "googlenet")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simplification, nasnet_mobile, "nasnet-mobile")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isomer

BENCHMARK_MAIN();
