#include "isomer/plan/incremental_simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/plan/task_graph_testing.h"

namespace isomer {
namespace {

using testing::HasSubstr;

TaskId any_task(Rng& rng, const TaskGraph& graph) {
  for (;;) {
    const auto task = static_cast<TaskId>(rng.below(graph.task_limit()));
    if (graph.contains(task)) return task;
  }
}

Task random_task(Rng& rng, const TaskGraph& graph) {
  return {static_cast<Nanoseconds>(1 + rng.below(9)), static_cast<ResourceSetId>(rng.below(graph.resource_set_count())),
          static_cast<int32_t>(rng.below(3))};
}

/// Makes a change of any kind. Edges lead to higher numbers unless `cyclic`.
void change(Rng& rng, IncrementalSimulator& simulator, bool cyclic = false) {
  const TaskGraph& graph = simulator.graph();
  if (graph.task_count() < 2) {
    simulator.add_task(random_task(rng, graph));
    return;
  }
  const TaskId task = any_task(rng, graph);
  const TaskId other = any_task(rng, graph);
  Task changed = graph.task(task);
  switch (rng.below(8)) {
    case 0:
      changed.duration = 1 + static_cast<Nanoseconds>(rng.below(12));
      return simulator.set_task(task, changed);
    case 1:
      changed.resources = static_cast<ResourceSetId>(rng.below(graph.resource_set_count()));
      return simulator.set_task(task, changed);
    case 2:
      changed.rank = static_cast<int32_t>(rng.below(3));
      return simulator.set_task(task, changed);
    case 3:
      return simulator.remove_task(task);
    case 4: {
      const TaskId added = simulator.add_task(random_task(rng, graph));
      if (added > task) simulator.add_edge(task, added);
      if (added < other) simulator.add_edge(added, other);
      return;
    }
    case 5:
      if (!graph.successors(task).empty()) simulator.remove_edge(task, graph.successors(task)[0]);
      return;
    default:
      if (task != other && cyclic) simulator.add_edge(task, other);
      if (task != other && !cyclic) simulator.add_edge(std::min(task, other), std::max(task, other));
  }
}

TEST(IncrementalSimulator, EqualsTheFullSimulation) {
  Rng rng(1);
  for (int graph = 0; graph < 300; ++graph) {
    auto simulator =
        IncrementalSimulator::make(random_task_graph(rng, 1 + rng.below(5), rng.below(60), rng.uniform() * 3)).value();
    ASSERT_EQ(simulator.schedule(), simulate(simulator.graph()).value());
    for (int round = 0; round < 50; ++round) {
      // Mostly one change, sometimes several.
      for (size_t i = rng.below(4) == 0 ? 1 + rng.below(5) : 1; i > 0; --i) change(rng, simulator);
      ASSERT_TRUE(simulator.update().has_value());
      ASSERT_EQ(simulator.schedule(), simulate(simulator.graph()).value()) << graph << ", " << round;
      EXPECT_LE(simulator.simulated(), simulator.graph().task_count());
    }
  }
}

TEST(IncrementalSimulator, EqualsTheFullSimulationOfSparseAndLongGraphs) {
  Rng rng(2);
  for (int graph = 0; graph < 20; ++graph) {
    auto simulator = IncrementalSimulator::make(random_task_graph(rng, 8, 600, 1.5)).value();
    for (int round = 0; round < 100; ++round) {
      change(rng, simulator);
      ASSERT_TRUE(simulator.update().has_value());
      ASSERT_EQ(simulator.schedule(), simulate(simulator.graph()).value()) << graph << ", " << round;
    }
  }
}

TEST(IncrementalSimulator, KeepsTheScheduleWhileThereIsACycle) {
  Rng rng(3);
  int cycles = 0;
  for (int graph = 0; graph < 200; ++graph) {
    auto simulator = IncrementalSimulator::make(random_task_graph(rng, 2, 12, 1)).value();
    for (int round = 0; round < 50; ++round) {
      Schedule before = simulator.schedule();
      change(rng, simulator, true);
      const Status status = simulator.update();
      const Result<Schedule> full = simulate(simulator.graph());
      ASSERT_EQ(status.has_value(), full.has_value());
      if (full) {
        ASSERT_EQ(simulator.schedule(), *full);
      } else {
        ++cycles;
        for (auto* times : {&before.ready, &before.start, &before.end})
          times->resize(simulator.graph().task_limit(), 0);  // a task that was added has no times yet
        EXPECT_EQ(simulator.schedule(), before);
        EXPECT_EQ(status.error().message, full.error().message);
      }
    }
  }
  EXPECT_GT(cycles, 100);
}

TEST(IncrementalSimulator, SimulatesOnlyWhatMayDiffer) {
  // Two chains on two cores that meet after 100 tasks; the second is shorter.
  TaskGraph graph;
  const ResourceSetId left = graph.add_resources({{graph.add_resource("left")}});
  const ResourceSetId right = graph.add_resources({{graph.add_resource("right")}});
  for (TaskId i = 0; i < 100; ++i) {
    graph.add_task({10, left});
    graph.add_task({9, right});
    if (i > 0) graph.add_edge(2 * i - 2, 2 * i);
    if (i > 0) graph.add_edge(2 * i - 1, 2 * i + 1);
  }
  const TaskId last = graph.add_task({10, left});
  graph.add_edge(198, last);
  graph.add_edge(199, last);
  auto simulator = IncrementalSimulator::make(graph).value();
  simulator.set_task(199 - 20, {19, right});
  ASSERT_TRUE(simulator.update().has_value());
  EXPECT_EQ(simulator.simulated(), 12);  // the rest of its chain, and the last task, which waits for the other one
  EXPECT_EQ(simulator.schedule(), simulate(simulator.graph()).value());
  simulator.set_task(199 - 20, {19, right});
  ASSERT_TRUE(simulator.update().has_value());
  EXPECT_EQ(simulator.simulated(), 0);
}

TEST(IncrementalSimulator, RefusesACycleAtFirst) {
  TaskGraph graph;
  const ResourceSetId core = graph.add_resources({{graph.add_resource("core")}});
  graph.add_task({1, core});
  graph.add_task({1, core});
  graph.add_edge(0, 1);
  graph.add_edge(1, 0);
  EXPECT_THAT(IncrementalSimulator::make(graph).error().message, HasSubstr("cycle"));
}

}  // namespace
}  // namespace isomer
