#include "isomer/plan/checker/reachability.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// What a plan orders, by adding to the sets of tasks until nothing is new.
std::vector<std::vector<bool>> fixpoint(const StreamPlan& plan, size_t tasks) {
  std::vector<Synchronization> edges = plan.synchronizations;
  for (const std::vector<TaskId>& stream : plan.streams)
    for (size_t i = 1; i < stream.size(); ++i) edges.push_back({stream[i - 1], stream[i]});
  std::vector<std::vector<bool>> leads(tasks, std::vector<bool>(tasks, false));
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [from, to] : edges)
      for (TaskId end = 0; end < tasks; ++end) {
        if (leads[from][end] || (end != to && !leads[to][end])) continue;
        leads[from][end] = grows = true;
      }
  }
  return leads;
}

/// Random streams with random numbers of tasks. Synchronizations follow one order of all tasks, except for `wrong`
/// ones.
StreamPlan random_plan(Rng& rng, size_t tasks, size_t wrong) {
  std::vector<TaskId> order;
  for (TaskId task = 0; task < tasks; ++task) {
    order.push_back(task);
    std::swap(order.back(), order[rng.below(order.size())]);
  }
  StreamPlan plan{std::vector<std::vector<TaskId>>(1 + rng.below(5)), {}};
  for (const TaskId task : order) plan.streams[rng.below(plan.streams.size())].push_back(task);
  for (size_t i = rng.below(tasks); i > 0; --i) {
    const size_t after = rng.below(tasks);
    if (after > 0) plan.synchronizations.push_back({order[rng.below(after)], order[after]});
  }
  for (; wrong > 0; --wrong) plan.synchronizations.push_back({order[rng.below(tasks)], order[rng.below(tasks)]});
  return plan;
}

TEST(Reachability, IsTheFixpointWhateverTheNumbers) {
  Rng rng(1);
  int cyclic = 0;
  for (int round = 0; round < 1000; ++round) {
    const size_t tasks = 1 + rng.below(round % 10 == 0 ? 150 : 20);
    const StreamPlan plan = random_plan(rng, tasks, rng.below(4));
    const auto leads = fixpoint(plan, tasks);
    std::vector<PlanFault> faults;
    const Reachability order(plan, tasks, faults);
    size_t waiting = 0;
    for (TaskId from = 0; from < tasks; ++from) {
      waiting += leads[from][from] ? 1 : 0;
      for (TaskId to = 0; to < tasks; ++to) ASSERT_EQ(order.leads(from, to), leads[from][to]) << round;
    }
    EXPECT_EQ(faults.size(), waiting) << round;  // each task on a cycle
    cyclic += waiting > 0 ? 1 : 0;
  }
  EXPECT_GT(cyclic, 200);
  EXPECT_LT(cyclic, 800);
}

}  // namespace
}  // namespace isomer
