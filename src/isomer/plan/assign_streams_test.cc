#include "isomer/plan/assign_streams.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "isomer/plan/checker/check_plan.h"
#include "isomer/plan/happens_before.h"
#include "isomer/plan/simulate.h"
#include "isomer/plan/task_graph_testing.h"

namespace isomer {
namespace {

using Matrix = std::vector<std::vector<bool>>;

/// The closure by Warshall's algorithm.
void close(Matrix& leads) {
  for (size_t k = 0; k < leads.size(); ++k)
    for (size_t i = 0; i < leads.size(); ++i)
      for (size_t j = 0; j < leads.size(); ++j) leads[i][j] = leads[i][j] || (leads[i][k] && leads[k][j]);
}

Matrix closure_of(const TaskGraph& graph) {
  Matrix leads(graph.task_limit(), std::vector<bool>(graph.task_limit(), false));
  for (TaskId task = 0; task < graph.task_limit(); ++task)
    for (const TaskId next : graph.successors(task)) leads[task][next] = true;
  close(leads);
  return leads;
}

/// Returns the least number of pairs of tasks on different streams that, with the order of the streams, have the
/// closure of the graph: by trying all sets of pairs. The streams are chains of the graph.
size_t fewest_by_trying(const Matrix& goal, const std::vector<std::vector<TaskId>>& streams) {
  const size_t tasks = goal.size();
  Matrix on_streams(tasks, std::vector<bool>(tasks, false));
  for (const auto& stream : streams)
    for (size_t i = 1; i < stream.size(); ++i) on_streams[stream[i - 1]][stream[i]] = true;
  close(on_streams);
  std::vector<std::pair<TaskId, TaskId>> pairs;
  for (TaskId a = 0; a < tasks; ++a)
    for (TaskId b = 0; b < tasks; ++b)
      if (goal[a][b] && !on_streams[a][b]) pairs.emplace_back(a, b);
  size_t fewest = pairs.size();
  for (size_t chosen = 0; chosen < size_t{1} << pairs.size(); ++chosen) {
    const auto count = static_cast<size_t>(std::popcount(chosen));
    if (count >= fewest) continue;
    Matrix leads = on_streams;
    for (size_t i = 0; i < pairs.size(); ++i)
      if ((chosen >> i & 1) != 0) leads[pairs[i].first][pairs[i].second] = true;
    close(leads);
    if (leads == goal) fewest = count;
  }
  return fewest;
}

/// Calls back with every partition of the tasks into chains; the numbers of the tasks are in topological order.
void for_all_chains(const Matrix& leads, const std::function<void(const std::vector<std::vector<TaskId>>&)>& call) {
  std::vector<std::vector<TaskId>> streams;
  const std::function<void(TaskId)> extend = [&](TaskId task) {
    if (task == leads.size()) return call(streams);
    for (size_t i = 0; i < streams.size(); ++i) {
      if (!leads[streams[i].back()][task]) continue;
      streams[i].push_back(task);
      extend(task + 1);
      streams[i].pop_back();
    }
    streams.push_back({task});
    extend(task + 1);
    streams.pop_back();
  };
  extend(0);
}

/// Whether any two tasks that the graph does not order are on different streams.
bool fully_concurrent(const Matrix& leads, const StreamPlan& plan) {
  for (const auto& stream : plan.streams)
    for (size_t i = 0; i < stream.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (!leads[stream[j]][stream[i]]) return false;
  return true;
}

TEST(AssignStreams, FewestSynchronizationsThenFewestStreams) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const TaskGraph graph = random_task_graph(rng, 1, 1 + rng.below(5), 1 + rng.uniform() * 2);
    const Matrix leads = closure_of(graph);
    std::pair<size_t, size_t> best = {SIZE_MAX, SIZE_MAX};
    for_all_chains(leads, [&](const auto& streams) {
      best = std::min(best, {fewest_by_trying(leads, streams), streams.size()});
    });
    const StreamPlan plan = assign_streams(graph, 100).value();
    EXPECT_TRUE(fully_concurrent(leads, plan));
    EXPECT_EQ(plan.synchronizations.size(), best.first) << round;
    EXPECT_EQ(plan.streams.size(), best.second) << round;
  }
}

/// Larger graphs: the fewest synchronizations with given chains are the edges of the reduction between them.
TEST(AssignStreams, FewestSynchronizationsThenFewestStreamsOfLargerGraphs) {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    const TaskGraph graph = random_task_graph(rng, 1, 6 + rng.below(3), 1 + rng.uniform() * 2);
    const Matrix leads = closure_of(graph);
    std::pair<size_t, size_t> best = {SIZE_MAX, SIZE_MAX};
    size_t width = SIZE_MAX;  // Dilworth: the least number of chains
    for_all_chains(leads, [&](const auto& streams) {
      width = std::min(width, streams.size());
      best = std::min(best, {fewest_synchronizations(graph, streams)->size(), streams.size()});
    });
    const StreamPlan plan = assign_streams(graph, 100).value();
    EXPECT_TRUE(fully_concurrent(leads, plan));
    EXPECT_EQ(plan.synchronizations.size(), best.first) << round;
    EXPECT_EQ(plan.streams.size(), best.second) << round;
    EXPECT_EQ(plan.streams.size(), width);
  }
}

TEST(AssignStreams, SynchronizationsOrderExactlyWhatStreamsAndGraphOrder) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    const TaskGraph graph = random_task_graph(rng, 1, 1 + rng.below(40), rng.uniform() * 4);
    const size_t most = 1 + rng.below(5);
    const StreamPlan plan = assign_streams(graph, most).value();
    EXPECT_LE(plan.streams.size(), most);
    EXPECT_TRUE(check_order(graph, plan).empty());
    EXPECT_TRUE(most > 1 || plan.synchronizations.empty());
    TaskGraph ordered = graph;
    add_order(ordered, plan);
    const Matrix wanted = closure_of(ordered);
    const HappensBefore order = HappensBefore::make(plan, graph.task_limit()).value();
    for (TaskId a = 0; a < graph.task_limit(); ++a)
      for (TaskId b = 0; b < graph.task_limit(); ++b) EXPECT_EQ(order(a, b), wanted[a][b]);
    // Without any one synchronization, an edge is not kept.
    for (size_t i = 0; i < plan.synchronizations.size(); ++i) {
      StreamPlan fewer = plan;
      fewer.synchronizations.erase(fewer.synchronizations.begin() + static_cast<ptrdiff_t>(i));
      EXPECT_FALSE(check_order(graph, fewer).empty());
    }
  }
}

TEST(AssignStreams, ReusesStreamsOfBranchesThatHaveEnded) {
  // Two diamonds, one after the other: each has two branches.
  TaskGraph graph;
  const ResourceSetId core = graph.add_resources({{graph.add_resource("core")}});
  for (int i = 0; i < 7; ++i) graph.add_task({1, core});
  for (const auto& [from, to] : std::vector<std::pair<TaskId, TaskId>>{
           {0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {3, 5}, {4, 6}, {5, 6}, {0, 3}, {0, 6}})
    graph.add_edge(from, to);
  const StreamPlan plan = assign_streams(graph, 8).value();
  EXPECT_EQ(plan.streams.size(), 2);
  EXPECT_EQ(plan.synchronizations.size(), 4);
}

TEST(AssignStreams, CapsTheStreams) {
  // Eight independent tasks on two streams take half as long as on one.
  TaskGraph graph;
  const ResourceSetId cores = graph.add_resources({{graph.add_resource("cores", 8)}});
  for (int i = 0; i < 8; ++i) graph.add_task({10, cores});
  for (const auto& [most, makespan] :
       std::vector<std::pair<size_t, Nanoseconds>>{{1, 80}, {2, 40}, {3, 30}, {100, 10}}) {
    const StreamPlan plan = assign_streams(graph, most).value();
    EXPECT_EQ(plan.streams.size(), std::min<size_t>(most, 8));
    TaskGraph ordered = graph;
    add_order(ordered, plan);
    EXPECT_EQ(simulate(ordered)->makespan, makespan);
  }
  EXPECT_EQ(assign_streams(graph, 0).error().message, "a plan needs at least one stream");
}

TEST(AssignStreams, RefusesCyclesAndStreamsThatContradictTheGraph) {
  TaskGraph graph;
  const ResourceSetId core = graph.add_resources({{graph.add_resource("core")}});
  graph.add_task({1, core});
  graph.add_task({1, core});
  graph.add_edge(0, 1);
  EXPECT_FALSE(fewest_synchronizations(graph, {{1, 0}}).has_value());
  EXPECT_TRUE(fewest_synchronizations(graph, {{0}, {1}}).has_value());
  graph.add_edge(1, 0);
  EXPECT_FALSE(assign_streams(graph, 2).has_value());
}

TEST(AssignStreams, RefusesStreamsWithoutEachTaskOnce) {
  TaskGraph graph;
  const ResourceSetId core = graph.add_resources({{graph.add_resource("core")}});
  for (int i = 0; i < 4; ++i) graph.add_task({1, core});
  graph.remove_task(1);
  const auto message = [&](const std::vector<std::vector<TaskId>>& streams) {
    const auto all = fewest_synchronizations(graph, streams);
    return all ? "" : all.error().message;
  };
  EXPECT_EQ(message({{0, 2}, {3}}), "");
  EXPECT_EQ(message({{0, 2}, {3, 4}}), "stream 1 has task 4, which does not exist");
  EXPECT_EQ(message({{0, 1, 2, 3}}), "stream 0 has task 1, which does not exist");  // removed
  EXPECT_EQ(message({{0, 2}, {3, 2}}), "task 2 is on a stream twice");
  EXPECT_EQ(message({{0, 0, 2, 3}}), "task 0 is on a stream twice");
  EXPECT_EQ(message({{0}, {3}}), "task 2 is on no stream");
}

TEST(AssignStreams, RemovedTasksAreOnNoStream) {
  Rng rng(4);
  TaskGraph graph = random_task_graph(rng, 1, 10, 2);
  graph.remove_task(4);
  for (const size_t most : {1, 2, 10}) {
    const StreamPlan plan = assign_streams(graph, most).value();
    EXPECT_TRUE(check_order(graph, plan).empty());
  }
}

TEST(HappensBefore, RefusesWhatIsNotAPlan) {
  EXPECT_EQ(HappensBefore::make({{{0, 1}, {1}}, {}}, 2).error().message, "task 1 is on a stream twice");
  EXPECT_EQ(HappensBefore::make({{{0, 2}}, {}}, 2).error().message, "stream 0 has task 2, which does not exist");
  EXPECT_EQ(HappensBefore::make({{{0}}, {{0, 1}}}, 2).error().message,
            "a synchronization has task 1, which is on no stream");
  EXPECT_EQ(HappensBefore::make({{{0, 1}}, {{1, 0}}}, 2).error().message,
            "task 0 waits for itself or for tasks that do");
}

}  // namespace
}  // namespace isomer
