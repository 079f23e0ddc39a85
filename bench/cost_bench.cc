// How many graphs a second the cost models take, every kernel known. Build with -DISOMER_BENCHMARKS=ON.

#include <benchmark/benchmark.h>

#include "isomer/cost/kernel_cost.h"
#include "isomer/cost/roofline.h"
#include "isomer/engine/ort/planner.h"
#include "isomer/engine/stub_testing.h"
#include "isomer/models/models.h"

namespace isomer {
namespace {

/// Groups as ONNX Runtime does; every kernel takes a microsecond.
class FlatEngine : public StubEngine {
 public:
  const KernelPlanner* planner() const override { return &planner_; }
  Result<double> kernel_overhead() override { return 0; }
  Result<KernelTime> time_kernel(const KernelRun&, double) override { return KernelTime{.us = 1, .runs = 1}; }

 private:
  const OrtPlanner planner_{16};
};

size_t operators(const Graph& graph) {
  size_t count = 0;
  for (const Node& node : graph.nodes()) count += graph.runs(node) ? 1 : 0;
  return count;
}

void evaluate(benchmark::State& state, CostModel& cost, const char* network) {
  const Graph graph = build_model(network).value();
  for (auto _ : state) benchmark::DoNotOptimize(cost.metrics(graph));
  state.SetItemsProcessed(state.iterations());
  state.counters["operators"] = static_cast<double>(operators(graph));
}

void kernels(benchmark::State& state, const char* network) {
  FlatEngine engine;
  ProfileDb db = ProfileDb::open("").value();
  const auto cost = KernelCost::make(engine, db, {}).value();
  evaluate(state, *cost, network);
}

void roofline(benchmark::State& state, const char* network) {
  RooflineCost cost;
  evaluate(state, cost, network);
}

BENCHMARK_CAPTURE(kernels, inception_e_1, "inception-e-1");
BENCHMARK_CAPTURE(kernels, sru, "sru");
BENCHMARK_CAPTURE(kernels, resnet_blocks_6, "resnet-blocks-6");
BENCHMARK_CAPTURE(kernels, nasnet_mobile, "nasnet-mobile");
BENCHMARK_CAPTURE(roofline, inception_e_1, "inception-e-1");
BENCHMARK_CAPTURE(roofline, resnet_blocks_6, "resnet-blocks-6");
BENCHMARK_CAPTURE(roofline, nasnet_mobile, "nasnet-mobile");

}  // namespace
}  // namespace isomer

BENCHMARK_MAIN();
