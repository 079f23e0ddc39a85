#include "isomer/plan/memory_plan.h"

#include <gtest/gtest.h>

#include "isomer/plan/assign_streams.h"
#include "isomer/plan/plan_testing.h"

namespace isomer {
namespace {

TEST(MemoryPlan, ReusesABufferOnlyAfterAllReaders) {
  // Task 0 writes buffer 0, tasks 1 and 2 read it, and task 3 writes buffer 1.
  MemoryAccesses memory{{64, 64}, {{0, 0, true}, {1, 0}, {2, 0}, {3, 1, true}}};
  const auto bytes = [&](const StreamPlan& plan) {
    return plan_memory(memory, HappensBefore::make(plan, 4).value())->bytes;
  };
  EXPECT_EQ(bytes({{{0, 1, 2, 3}}, {}}), 64);
  EXPECT_EQ(bytes({{{0, 1, 3}, {2}}, {{0, 2}}}), 128);  // task 2 may still read
  EXPECT_EQ(bytes({{{0, 1, 3}, {2}}, {{0, 2}, {2, 3}}}), 64);
  EXPECT_EQ(bytes({{{3, 0, 1, 2}}, {}}), 64);  // the other way round
  memory.accesses.push_back({3, 0});           // task 3 reads one and writes the other
  EXPECT_EQ(bytes({{{0, 1, 2, 3}}, {}}), 128);
}

TEST(MemoryPlan, IsTheLayoutByLifetimesOnOneStream) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const size_t tasks = 1 + rng.below(40);
    std::vector<Lifetime> lifetimes(1 + rng.below(40));
    MemoryAccesses memory;
    for (uint32_t buffer = 0; buffer < lifetimes.size(); ++buffer) {
      const size_t first = rng.below(tasks);
      lifetimes[buffer] = {rng.below(3000), first, std::min(tasks - 1, first + rng.below(8))};
      memory.bytes.push_back(lifetimes[buffer].bytes);
      memory.accesses.push_back({static_cast<TaskId>(first), buffer, true});
      memory.accesses.push_back({static_cast<TaskId>(lifetimes[buffer].last), buffer});
    }
    StreamPlan plan{{{}}, {}};
    for (TaskId task = 0; task < tasks; ++task) plan.streams[0].push_back(task);
    const ArenaLayout layout = plan_memory(memory, HappensBefore::make(plan, tasks).value()).value();
    const ArenaLayout expected = pack_arena(lifetimes);
    EXPECT_EQ(layout.offsets, expected.offsets);
    EXPECT_EQ(layout.bytes, expected.bytes);
  }
}

TEST(MemoryPlan, IsSafeInAllExecutions) {
  Rng rng(2);
  int reused = 0;
  for (int round = 0; round < 300; ++round) {
    const RandomProgram program(rng, 1 + rng.below(6));
    const StreamPlan plan = assign_streams(program.graph, 1 + rng.below(3)).value();
    const HappensBefore order = HappensBefore::make(plan, program.graph.task_limit()).value();
    const ArenaLayout layout = plan_memory(program.memory, order).value();
    const Executions executions(program.graph, program.memory, layout, plan);
    EXPECT_TRUE(executions.some());
    EXPECT_FALSE(executions.breaks_edges());
    EXPECT_FALSE(executions.spoils_memory()) << round;
    const auto separate = pack_arena(program.memory.bytes, [](size_t, size_t) { return true; });
    reused += layout.bytes < separate.bytes ? 1 : 0;
  }
  EXPECT_GT(reused, 50);
}

TEST(MemoryPlan, RefusesAccessesOutsideOfThePlan) {
  // Task 1 exists and is on no stream; task 2 does not exist.
  const HappensBefore order = HappensBefore::make({{{0}}, {}}, 2).value();
  const auto message = [&](const Access& access) {
    const auto planned = plan_memory({{64}, {access}}, order);
    return planned ? "accepted" : planned.error().message;
  };
  EXPECT_TRUE(plan_memory({{64}, {{0, 0, true}}}, order).has_value());
  EXPECT_EQ(message({1, 0, true}), "task 1 accesses memory and is on no stream");
  EXPECT_EQ(message({2, 0, true}), "task 2 accesses memory and is on no stream");
  EXPECT_EQ(message({0, 1, true}), "task 0 accesses buffer 1, which does not exist");
}

}  // namespace
}  // namespace isomer
