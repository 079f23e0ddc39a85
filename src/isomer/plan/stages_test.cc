#include "isomer/plan/stages.h"

#include <gtest/gtest.h>

#include <map>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

struct Program {
  TaskGraph graph;
  std::vector<Nanoseconds> alone;
};

Program random_program(Rng& rng, size_t tasks) {
  Program out;
  const ResourceSetId core = out.graph.add_resources({{out.graph.add_resource("core", 64)}});
  for (size_t i = 0; i < tasks; ++i) {
    const auto duration = static_cast<Nanoseconds>(1 + rng.below(20));
    out.graph.add_task({duration, core});
    out.alone.push_back(1 + static_cast<Nanoseconds>(rng.below(static_cast<uint64_t>(duration) + 3)));
  }
  for (TaskId from = 0; from < tasks; ++from)
    for (TaskId to = from + 1; to < tasks; ++to)
      if (rng.below(tasks) < 2) out.graph.add_edge(from, to);
  return out;
}

/// The time of [begin, end) on streams: each task, in order, on the stream where it starts first.
Nanoseconds side_by_side(const TaskGraph& graph, TaskId begin, TaskId end, size_t streams, Nanoseconds fork) {
  std::map<TaskId, Nanoseconds> ends;
  std::vector<Nanoseconds> free(streams, 0);
  Nanoseconds last = 0;
  for (TaskId task = begin; task < end; ++task) {
    Nanoseconds ready = 0;
    for (const auto& [before, at] : ends)
      if (std::ranges::count(graph.successors(before), task) > 0) ready = std::max(ready, at);
    // Of streams on which it starts at the same time, the one that was busy longest.
    size_t chosen = 0;
    for (size_t stream = 1; stream < streams; ++stream) {
      const Nanoseconds here = std::max(free[stream], ready), there = std::max(free[chosen], ready);
      if (here < there || (here == there && free[stream] > free[chosen])) chosen = stream;
    }
    free[chosen] = ends[task] = std::max(free[chosen], ready) + graph.task(task).duration;
    last = std::max(last, free[chosen]);
  }
  const bool several = std::ranges::count_if(free, [](Nanoseconds busy) { return busy > 0; }) > 1;
  return last + (several ? fork : 0);
}

Nanoseconds time_of(const Program& program, std::span<const Stage> stages, size_t streams, Nanoseconds fork) {
  Nanoseconds time = 0;
  for (const Stage& stage : stages) {
    if (stage.side_by_side) time += side_by_side(program.graph, stage.begin, stage.end, streams, fork);
    for (TaskId task = stage.begin; task < stage.end && !stage.side_by_side; ++task) time += program.alone[task];
  }
  return time;
}

/// The least time of all divisions of the tasks from `begin` on.
Nanoseconds least_time(const Program& program, TaskId begin, size_t streams, Nanoseconds fork) {
  const auto count = static_cast<TaskId>(program.alone.size());
  if (begin == count) return 0;
  Nanoseconds least = program.alone[begin] + least_time(program, begin + 1, streams, fork);
  for (TaskId end = begin + 1; end <= count; ++end)
    least = std::min(least,
                     side_by_side(program.graph, begin, end, streams, fork) + least_time(program, end, streams, fork));
  return least;
}

TEST(Stages, TakeTheLeastTime) {
  Rng rng(5);
  size_t mixed = 0;
  for (int round = 0; round < 500; ++round) {
    const Program program = random_program(rng, 1 + rng.below(9));
    const size_t streams = 1 + rng.below(3);
    const auto fork = static_cast<Nanoseconds>(rng.below(6));
    const std::vector<Stage> stages = choose_stages(program.graph, program.alone, streams, fork);
    EXPECT_EQ(time_of(program, stages, streams, fork), least_time(program, 0, streams, fork));
    ASSERT_FALSE(stages.empty());
    EXPECT_EQ(stages.front().begin, 0U);
    EXPECT_EQ(stages.back().end, program.alone.size());
    for (size_t i = 1; i < stages.size(); ++i) {
      EXPECT_EQ(stages[i].begin, stages[i - 1].end);
      EXPECT_TRUE(stages[i].side_by_side || stages[i - 1].side_by_side) << "they are one stage";
      mixed += stages[i].side_by_side != stages[i - 1].side_by_side ? 1 : 0;
    }
  }
  EXPECT_GT(mixed, 100U);
}

TEST(Stages, OfNothingAreNone) { EXPECT_TRUE(choose_stages(TaskGraph(), {}, 2, 1).empty()); }

TEST(Stages, OfAChainHaveAllCores) {
  Program chain;
  const ResourceSetId core = chain.graph.add_resources({{chain.graph.add_resource("core", 2)}});
  for (TaskId task = 0; task < 1000; ++task) {
    chain.graph.add_task({10, core});
    chain.alone.push_back(6);
    if (task > 0) chain.graph.add_edge(task - 1, task);
  }
  EXPECT_EQ(choose_stages(chain.graph, chain.alone, 2, 1), (std::vector<Stage>{{0, 1000, false}}));
}

}  // namespace
}  // namespace isomer
