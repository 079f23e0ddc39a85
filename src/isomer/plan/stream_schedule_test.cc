#include "isomer/plan/stream_schedule.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// Tasks of these durations on streams, and how they slow each other down.
struct Tasks {
  explicit Tasks(std::initializer_list<Nanoseconds> durations) {
    const ResourceSetId core = graph.add_resources({{graph.add_resource("core", 8)}});
    for (const Nanoseconds duration : durations) graph.add_task({duration, core});
  }
  StreamSchedule schedule(size_t streams, TaskId first = 0) const {
    StreamSchedule out(graph, neighborhood, streams);
    out.begin(first);
    for (TaskId task = first; task < graph.task_limit(); ++task) out.add(task);
    return out;
  }
  Nanoseconds makespan(size_t streams) const {
    const StreamSchedule all = schedule(streams);
    Nanoseconds last = 0;
    for (TaskId task = 0; task < graph.task_limit(); ++task) last = std::max(last, all.end(task));
    return last;
  }

  TaskGraph graph;
  Neighborhood neighborhood;
};

TEST(StreamSchedule, TasksGoWhereTheyEndFirst) {
  Tasks tasks({10, 4, 3, 5});
  tasks.graph.add_edge(1, 3);
  const StreamSchedule schedule = tasks.schedule(2);
  EXPECT_EQ(schedule.stream(1), schedule.stream(2)) << "4 + 3 < 10 + 3";
  EXPECT_EQ(schedule.start(3), 7) << "and not 4: both streams are busy";
  EXPECT_EQ(schedule.end(3), 12);
  EXPECT_TRUE(schedule.forks());
  EXPECT_FALSE(Tasks({7, 8}).schedule(1).forks());
  EXPECT_EQ(Tasks({7, 8}).makespan(1), 15);
}

/// While both run, each progresses at 1 / slowdown, so the shorter ends at slowdown * its duration, and the longer one
/// when it has made up for that.
TEST(StreamSchedule, TwoTasksSlowEachOtherDownWhileBothRun) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const auto a = static_cast<Nanoseconds>(1000 + rng.below(100'000));
    const auto b = static_cast<Nanoseconds>(1000 + rng.below(100'000));
    const double slowdown = 1 + static_cast<double>(rng.below(100)) / 100;
    Tasks tasks({a, b});
    tasks.neighborhood = {.costs = {.slowdown = {{{1, 1}, {1, slowdown}}}}, .memory_share = {1, 1}};
    const StreamSchedule schedule = tasks.schedule(2);
    const auto lost = static_cast<double>(std::min(a, b)) * (slowdown - 1);
    EXPECT_NEAR(static_cast<double>(schedule.end(0)), static_cast<double>(a) + lost, 1);
    EXPECT_NEAR(static_cast<double>(schedule.end(1)), static_cast<double>(b) + lost, 1);
    tasks.neighborhood.memory_share = {1, 0};
    EXPECT_EQ(tasks.schedule(2).end(0), a) << "they are bound by different parts of the machine";
  }
}

/// Two chains that run side by side, whichever task is scheduled first.
TEST(StreamSchedule, ChainsSlowEachOtherDownInAnyOrder) {
  constexpr TaskId kLength = 6, kCount = 2 * kLength;
  for (const bool in_turn : {false, true}) {
    Tasks tasks({});
    const ResourceSetId core = tasks.graph.add_resources({{tasks.graph.add_resource("core", 8)}});
    for (TaskId task = 0; task < kCount; ++task) tasks.graph.add_task({100, core});
    const TaskId step = in_turn ? 2 : 1;
    for (TaskId task = 0; task + step < kCount; ++task)
      if (in_turn || task != kLength - 1) tasks.graph.add_edge(task, task + step);
    tasks.neighborhood = {.costs = {.slowdown = {{{1.5, 1}, {1, 1}}}}, .memory_share = std::vector<double>(kCount, 0)};
    EXPECT_EQ(tasks.makespan(2), 150 * kLength) << in_turn;
    EXPECT_EQ(tasks.makespan(1), 200 * kLength) << in_turn;
  }
}

TEST(StreamSchedule, TasksThatFollowEachOtherDoNotSlowEachOtherDown) {
  Tasks tasks({100, 100});
  tasks.graph.add_edge(0, 1);
  tasks.neighborhood = {.costs = {.slowdown = {{{2, 2}, {2, 2}}}}, .memory_share = {0, 0}};
  EXPECT_EQ(tasks.makespan(2), 200);
}

TEST(StreamSchedule, OnlyTheCommonTimeIsSlower) {
  Tasks tasks({100, 30, 200});
  tasks.graph.add_edge(1, 2);
  tasks.neighborhood = {.costs = {.slowdown = {{{1.5, 1}, {1, 1}}}}, .memory_share = {0, 0, 0}};
  const StreamSchedule schedule = tasks.schedule(2);
  EXPECT_EQ(schedule.end(1), 45);
  EXPECT_EQ(schedule.start(2), 45);
  // Task 0 ended at 115 after it met task 1, so it has 70 in common with task 2.
  EXPECT_EQ(schedule.end(0), 150);
  EXPECT_EQ(schedule.end(2), 280);
}

TEST(StreamSchedule, OtherStreamsLearnLaterThatATaskHasEnded) {
  Tasks tasks({100, 100, 10, 10});
  for (const TaskId before : {0U, 1U})
    for (const TaskId after : {2U, 3U}) tasks.graph.add_edge(before, after);
  tasks.neighborhood.costs.synchronization_us = 0.007;
  const StreamSchedule schedule = tasks.schedule(2);
  EXPECT_EQ(schedule.start(2), 107);
  EXPECT_EQ(schedule.start(3), 107);
  EXPECT_EQ(tasks.makespan(1), 220);
}

TEST(StreamSchedule, ATaskGoesToItsInputsIfThatIsFaster) {
  Tasks tasks({100, 100, 10});
  tasks.graph.add_edge(0, 2);
  tasks.graph.add_edge(1, 2);
  tasks.neighborhood = {.costs = {.transfer_us = 0.001}, .inputs = {{}, {}, {{0, 5}, {1, 8}}}};
  const StreamSchedule schedule = tasks.schedule(2);
  EXPECT_EQ(schedule.stream(2), schedule.stream(1));
  EXPECT_EQ(schedule.end(2), 115) << "5 bytes come from the other one";
  // Of what was made before the first task, each stream has made a half.
  tasks.neighborhood.inputs = {{}, {}, {{0, 5}, {1, 9}}};
  EXPECT_EQ(tasks.schedule(2, 2).end(2), 10 + 7);
}

TEST(StreamSchedule, RandomTasksComeAfterWhatTheyNeed) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    Tasks tasks({});
    const ResourceSetId core = tasks.graph.add_resources({{tasks.graph.add_resource("core", 8)}});
    const auto count = static_cast<TaskId>(1 + rng.below(20));
    Nanoseconds sum = 0;
    for (TaskId task = 0; task < count; ++task) {
      const auto duration = static_cast<Nanoseconds>(1 + rng.below(100));
      tasks.graph.add_task({duration, core});
      tasks.neighborhood.memory_share.push_back(rng.below(2) == 0 ? 0 : 1);
      sum += duration;
      for (TaskId before = 0; before < task; ++before)
        if (rng.below(task) == 0) tasks.graph.add_edge(before, task);
    }
    tasks.neighborhood.costs.slowdown = {{{1, 1.25}, {1.5, 2}}};
    EXPECT_EQ(tasks.makespan(1), sum);
    const StreamSchedule schedule = tasks.schedule(2);
    std::array<Nanoseconds, 2> busy{};
    for (TaskId task = 0; task < count; ++task) {
      EXPECT_GE(schedule.end(task) - schedule.start(task), tasks.graph.task(task).duration);
      busy[schedule.stream(task)] += schedule.end(task) - schedule.start(task);
      for (const TaskId before : tasks.graph.predecessors(task))
        EXPECT_LE(schedule.end(before), schedule.start(task)) << "on two streams, what has a reader no longer moves";
    }
    for (const Nanoseconds time : busy) EXPECT_LE(time, tasks.makespan(2)) << "tasks of a stream overlap";
    const Nanoseconds slowed = tasks.makespan(2);
    tasks.neighborhood.costs.slowdown = {{{1, 1}, {1, 1}}};
    EXPECT_LE(2 * slowed, 4 * tasks.makespan(2)) << "no pair is more than twice as slow";
  }
}

}  // namespace
}  // namespace isomer
