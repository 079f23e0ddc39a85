// How long a simulation of a task graph takes after one change: from the beginning, and incrementally. Build with
// -DISOMER_BENCHMARKS=ON.

#include <benchmark/benchmark.h>

#include "isomer/base/rng.h"
#include "isomer/models/models.h"
#include "isomer/plan/assign_streams.h"
#include "isomer/plan/incremental_simulator.h"

namespace isomer {
namespace {

Nanoseconds random_duration(Rng& rng) { return 1000 + static_cast<Nanoseconds>(rng.below(100000)); }

/// Layers that are cut over devices in a ring. Each part reads its own part of the layer before, and that of the
/// neighbor after a transfer in one of `rarity` cases.
TaskGraph devices_in_a_ring(uint32_t devices, uint32_t layers, uint32_t rarity) {
  Rng rng(1);
  TaskGraph graph;
  for (uint32_t i = 0; i < 2 * devices; ++i)
    graph.add_resources({{graph.add_resource((i < devices ? "device " : "link ") + std::to_string(i % devices))}});
  std::vector<TaskId> last;
  for (uint32_t layer = 0; layer < layers; ++layer) {
    std::vector<TaskId> parts;
    for (uint32_t device = 0; device < devices; ++device) {
      parts.push_back(graph.add_task({random_duration(rng), device}));
      if (layer == 0) continue;
      graph.add_edge(last[device], parts.back());
      if (rng.below(rarity) > 0) continue;
      const TaskId transfer = graph.add_task({random_duration(rng) / 4, devices + device});
      graph.add_edge(last[(device + 1) % devices], transfer);
      graph.add_edge(transfer, parts.back());
    }
    last = parts;
  }
  return graph;
}

/// The operators of a network on two streams.
TaskGraph network_on_streams(const char* name) {
  Rng rng(1);
  const Graph network = build_model(name).value();
  TaskGraph graph;
  const ResourceSetId cores = graph.add_resources({{graph.add_resource("cores", 2)}});
  std::vector<std::pair<bool, TaskId>> tasks(network.nodes().size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Node& node = network.nodes()[i];
    if (!network.runs(node)) continue;
    tasks[i] = {true, graph.add_task({random_duration(rng), cores})};
    for (const ValueId operand : network.operands(node)) {
      const auto& [runs, before] = tasks[network.producer(operand)];
      if (runs) graph.add_edge(before, tasks[i].second);
    }
  }
  add_order(graph, assign_streams(graph, 2).value());
  return graph;
}

/// Gives a task another duration.
std::pair<TaskId, Task> random_change(Rng& rng, const TaskGraph& graph) {
  const auto id = static_cast<TaskId>(rng.below(graph.task_limit()));
  Task task = graph.task(id);
  task.duration = random_duration(rng);
  return {id, task};
}

void full(benchmark::State& state, TaskGraph graph) {
  Rng rng(2);
  for (auto _ : state) {
    const auto [id, task] = random_change(rng, graph);
    graph.set_task(id, task);
    benchmark::DoNotOptimize(simulate(graph));
  }
  state.counters["tasks"] = static_cast<double>(graph.task_count());
}

void incremental(benchmark::State& state, TaskGraph graph) {
  Rng rng(2);
  auto simulator = IncrementalSimulator::make(std::move(graph)).value();
  size_t simulated = 0;
  for (auto _ : state) {
    const auto [id, task] = random_change(rng, simulator.graph());
    simulator.set_task(id, task);
    benchmark::DoNotOptimize(simulator.update());
    simulated += simulator.simulated();
  }
  state.counters["tasks"] = static_cast<double>(simulator.graph().task_count());
  state.counters["simulated"] = benchmark::Counter(static_cast<double>(simulated), benchmark::Counter::kAvgIterations);
}

// Names: devices, layers, and how rare transfers are.
BENCHMARK_CAPTURE(full, ring_4_100_4, devices_in_a_ring(4, 100, 4));
BENCHMARK_CAPTURE(incremental, ring_4_100_4, devices_in_a_ring(4, 100, 4));
BENCHMARK_CAPTURE(full, ring_16_500_4, devices_in_a_ring(16, 500, 4));
BENCHMARK_CAPTURE(incremental, ring_16_500_4, devices_in_a_ring(16, 500, 4));
BENCHMARK_CAPTURE(full, ring_64_1500_4, devices_in_a_ring(64, 1500, 4));
BENCHMARK_CAPTURE(incremental, ring_64_1500_4, devices_in_a_ring(64, 1500, 4));
BENCHMARK_CAPTURE(full, ring_64_1500_100, devices_in_a_ring(64, 1500, 100));
BENCHMARK_CAPTURE(incremental, ring_64_1500_100, devices_in_a_ring(64, 1500, 100));
BENCHMARK_CAPTURE(full, nasnet_large, network_on_streams("nasnet-large"));
BENCHMARK_CAPTURE(incremental, nasnet_large, network_on_streams("nasnet-large"));

}  // namespace
}  // namespace isomer

BENCHMARK_MAIN();
