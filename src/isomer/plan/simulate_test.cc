#include "isomer/plan/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "isomer/plan/task_graph_testing.h"

namespace isomer {
namespace {

using testing::ElementsAre;

/// Goes through all times, one by one. Each unit of a resource has a line of tasks; a task that becomes ready joins the
/// shortest lines, and runs when it is first in all of them.
class NaiveSimulation {
 public:
  explicit NaiveSimulation(const TaskGraph& graph) : graph_(graph) {
    for (ResourceId id = 0; id < graph.resource_count(); ++id)
      for (uint32_t unit = 0; unit < graph.resource(id).units; ++unit) free_.emplace(id, Unit());
  }

  /// The tasks that had units for which `task` waited: those that were free last, of a resource that was there last.
  const std::set<TaskId>& waited_for(TaskId task) { return waited_for_[task]; }

  Schedule run() {
    const size_t tasks = graph_.task_limit();
    Schedule schedule{std::vector<Nanoseconds>(tasks), std::vector<Nanoseconds>(tasks), std::vector<Nanoseconds>(tasks),
                      0};
    std::vector<bool> known(tasks, false);
    size_t left = graph_.task_count();
    for (Nanoseconds time = 0; left > 0; ++time) {
      std::vector<std::pair<int, TaskId>> arriving;
      for (TaskId task = 0; task < tasks; ++task) {
        if (!graph_.contains(task) || known[task]) continue;
        bool arrives = true;
        for (const TaskId before : graph_.predecessors(task))
          arrives = arrives && known[before] && schedule.end[before] <= time;
        if (arrives) arriving.emplace_back(graph_.task(task).rank, task);
      }
      std::sort(arriving.begin(), arriving.end());
      for (const auto& [rank, task] : arriving) {
        known[task] = true;
        --left;
        schedule.ready[task] = time;
        schedule.start[task] = start_at(task, time);
        schedule.end[task] = schedule.start[task] + graph_.task(task).duration;
        schedule.makespan = std::max(schedule.makespan, schedule.end[task]);
      }
    }
    return schedule;
  }

 private:
  struct Unit {
    Nanoseconds free = 0;
    TaskId task = 0;  // that had it last; of units that are free at the same time, which one does not matter
    friend auto operator<=>(const Unit&, const Unit&) = default;
  };

  Nanoseconds start_at(TaskId task, Nanoseconds time) {
    const Nanoseconds ready = time;
    std::vector<std::multimap<ResourceId, Unit>::iterator> taken;
    for (const ResourceUse& use : graph_.uses(graph_.task(task).resources))
      for (uint32_t i = 0; i < use.units; ++i) {
        auto best = free_.end();
        for (auto unit = free_.begin(); unit != free_.end(); ++unit)
          if (unit->first == use.resource && std::find(taken.begin(), taken.end(), unit) == taken.end() &&
              (best == free_.end() || unit->second < best->second))
            best = unit;
        taken.push_back(best);
        time = std::max(time, best->second.free);
      }
    if (time > ready)
      for (const auto& late : taken)
        for (const auto& [resource, unit] : free_)
          if (late->second.free == time && resource == late->first && unit.free == time)
            waited_for_[task].insert(unit.task);
    for (const auto& unit : taken) unit->second = {time + graph_.task(task).duration, task};
    return time;
  }

  const TaskGraph& graph_;
  std::multimap<ResourceId, Unit> free_;
  std::map<TaskId, std::set<TaskId>> waited_for_;
};

TEST(Simulate, ServesInTheOrderOfArrival) {
  TaskGraph graph;
  const ResourceSetId core = graph.add_resources({{graph.add_resource("core")}});
  const ResourceSetId link = graph.add_resources({{graph.add_resource("link")}});
  graph.add_task({5, core});
  graph.add_task({3, link});
  graph.add_task({2, core});     // ready at 3, after task 1, before task 3
  graph.add_task({2, core, 1});  // ready at 0, behind task 0 because of its rank
  graph.add_edge(1, 2);
  const Schedule schedule = simulate(graph).value();
  EXPECT_THAT(schedule.ready, ElementsAre(0, 0, 3, 0));
  EXPECT_THAT(schedule.start, ElementsAre(0, 0, 7, 5));
  EXPECT_EQ(schedule.makespan, 9);
  EXPECT_THAT(binding_tasks(graph, schedule), ElementsAre(0, 3, 2));
  EXPECT_THAT(utilization(graph, schedule), ElementsAre(1.0, 3.0 / 9));
  EXPECT_EQ(critical_path(graph)->length, 5);
}

TEST(Simulate, GroupsOfCoresAndPathsOfLinks) {
  TaskGraph graph;
  const ResourceId cores = graph.add_resource("cores", 4);
  const ResourceId first = graph.add_resource("link 0-1");
  const ResourceId second = graph.add_resource("link 1-2");
  const ResourceSetId one = graph.add_resources({{cores, 1}});
  const ResourceSetId all = graph.add_resources({{cores, 4}});
  const ResourceSetId path = graph.add_resources({{second}, {first}});
  EXPECT_EQ(graph.add_resources({{first}, {second}}), path);
  const TaskId a = graph.add_task({10, one});
  const TaskId b = graph.add_task({10, one});
  const TaskId wide = graph.add_task({5, all});
  const TaskId transfer = graph.add_task({7, path});
  const TaskId other = graph.add_task({1, graph.add_resources({{second}})});
  graph.add_edge(wide, transfer);
  graph.add_edge(b, other);
  const Schedule schedule = simulate(graph).value();
  EXPECT_EQ(schedule.start[a], 0);
  EXPECT_EQ(schedule.start[b], 0);
  EXPECT_EQ(schedule.start[wide], 10);
  EXPECT_EQ(schedule.start[other], 10);
  EXPECT_EQ(schedule.start[transfer], 15);
  EXPECT_EQ(schedule.makespan, 22);
}

TEST(Simulate, NamesTheTasksOfACycle) {
  TaskGraph graph;
  const ResourceSetId core = graph.add_resources({{graph.add_resource("core")}});
  for (int i = 0; i < 5; ++i) graph.add_task({1, core});
  graph.add_edge(0, 1);
  graph.add_edge(1, 2);
  graph.add_edge(2, 3);
  graph.add_edge(3, 1);
  graph.add_edge(3, 4);
  EXPECT_EQ(simulate(graph).error().message, "tasks 2, 3, 1 wait for one another in a cycle");
  EXPECT_EQ(critical_path(graph).error().message, simulate(graph).error().message);
}

TEST(Simulate, NothingTakesNoTime) {
  EXPECT_EQ(simulate(TaskGraph()).value(), Schedule());
  EXPECT_THAT(binding_tasks(TaskGraph(), Schedule()), ElementsAre());
  EXPECT_THAT(critical_path(TaskGraph())->tasks, ElementsAre());
}

TEST(Simulate, EqualsTheNaiveSimulation) {
  Rng rng(1);
  for (int round = 0; round < 1000; ++round) {
    TaskGraph graph = random_task_graph(rng, 1 + rng.below(4), 1 + rng.below(20), rng.uniform() * 3);
    if (graph.task_limit() > 2 && rng.below(2) == 0) graph.remove_task(1);
    EXPECT_EQ(simulate(graph).value(), NaiveSimulation(graph).run()) << round;
  }
}

/// Returns the longest path by going through all paths.
Nanoseconds longest_from(const TaskGraph& graph, TaskId task) {
  Nanoseconds longest = 0;
  for (const TaskId next : graph.successors(task)) longest = std::max(longest, longest_from(graph, next));
  return longest + graph.task(task).duration;
}

TEST(Simulate, CriticalPathIsTheLongest) {
  Rng rng(2);
  for (int round = 0; round < 300; ++round) {
    const TaskGraph graph = random_task_graph(rng, 2, 1 + rng.below(10), 2);
    Nanoseconds longest = 0;
    for (TaskId task = 0; task < graph.task_limit(); ++task) longest = std::max(longest, longest_from(graph, task));
    const CriticalPath path = critical_path(graph).value();
    EXPECT_EQ(path.length, longest);
    EXPECT_LE(path.length, simulate(graph)->makespan);
    Nanoseconds sum = 0;
    for (size_t i = 0; i < path.tasks.size(); ++i) {
      sum += graph.task(path.tasks[i]).duration;
      if (i > 0) {
        EXPECT_THAT(graph.predecessors(path.tasks[i]), testing::Contains(path.tasks[i - 1]));
      }
    }
    EXPECT_EQ(sum, longest);
  }
}

TEST(Simulate, BindingTasksHaveTheUnitsThatWereMissing) {
  TaskGraph graph;
  const ResourceId a = graph.add_resource("a", 3);
  const ResourceId b = graph.add_resource("b");
  graph.add_task({10, graph.add_resources({{a}})});
  graph.add_task({10, graph.add_resources({{b}})});
  graph.add_task({10, graph.add_resources({{a}, {b}})});
  // Two units of `a` are free at 0, so only task 1 delays task 2.
  EXPECT_THAT(binding_tasks(graph, simulate(graph).value()), ElementsAre(1, 2));
}

TEST(Simulate, BindingTasksFillTheMakespan) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    const TaskGraph graph = random_task_graph(rng, 1 + rng.below(4), 1 + rng.below(30), 2);
    const Schedule schedule = simulate(graph).value();
    NaiveSimulation naive(graph);
    naive.run();
    Nanoseconds time = 0;
    TaskId last = 0;
    for (const TaskId task : binding_tasks(graph, schedule)) {
      EXPECT_EQ(schedule.start[task], time);
      if (schedule.start[task] > schedule.ready[task]) {
        EXPECT_THAT(naive.waited_for(task), testing::Contains(last)) << round;
      } else if (time > 0) {
        EXPECT_THAT(graph.predecessors(task), testing::Contains(last)) << round;
      }
      last = task;
      time = schedule.end[task];
    }
    EXPECT_EQ(time, schedule.makespan);
    for (const double part : utilization(graph, schedule)) {
      EXPECT_GE(part, 0);
      EXPECT_LE(part, 1);
    }
  }
}

}  // namespace
}  // namespace isomer
