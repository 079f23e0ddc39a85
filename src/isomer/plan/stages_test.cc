#include "isomer/plan/stages.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

struct Program {
  TaskGraph graph;
  std::vector<Nanoseconds> alone;
  std::vector<Nanoseconds> parts = {};

  StageTimes times() const { return {alone, parts}; }
};

Program random_program(Rng& rng, size_t tasks) {
  Program out;
  const ResourceSetId core = out.graph.add_resources({{out.graph.add_resource("core", 64)}});
  for (size_t i = 0; i < tasks; ++i) {
    const auto duration = static_cast<Nanoseconds>(1 + rng.below(20));
    out.graph.add_task({duration, core});
    out.alone.push_back(1 + static_cast<Nanoseconds>(rng.below(static_cast<uint64_t>(duration) + 3)));
    out.parts.push_back(static_cast<Nanoseconds>(rng.below(static_cast<uint64_t>(duration) + 1)));
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

constexpr Nanoseconds kNever = 1'000'000;

/// The time of [begin, end) one after the other, each in parts or on all cores. Nothing if one has no parts.
std::optional<Nanoseconds> one_by_one(const Program& program, TaskId begin, TaskId end, bool parts, Nanoseconds fork) {
  const auto& times = parts ? program.parts : program.alone;
  Nanoseconds time = parts ? fork : 0;
  for (TaskId task = begin; task < end; ++task) {
    if (times[task] == 0) return std::nullopt;
    time += times[task];
  }
  return time;
}

Nanoseconds time_of(const Program& program, std::span<const Stage> stages, size_t streams, Nanoseconds fork) {
  Nanoseconds time = 0;
  for (const Stage& stage : stages) {
    if (stage.kind == StageKind::SideBySide)
      time += side_by_side(program.graph, stage.begin, stage.end, streams, fork);
    else
      time += one_by_one(program, stage.begin, stage.end, stage.kind == StageKind::Divided, fork).value_or(kNever);
  }
  return time;
}

/// The least time of all divisions of the tasks from `begin` on.
Nanoseconds least_time(const Program& program, TaskId begin, size_t streams, Nanoseconds fork) {
  const auto count = static_cast<TaskId>(program.alone.size());
  if (begin == count) return 0;
  Nanoseconds least = program.alone[begin] + least_time(program, begin + 1, streams, fork);
  for (TaskId end = begin + 1; end <= count; ++end) {
    const Nanoseconds rest = least_time(program, end, streams, fork);
    least = std::min(least, side_by_side(program.graph, begin, end, streams, fork) + rest);
    least = std::min(least, one_by_one(program, begin, end, true, fork).value_or(kNever) + rest);
  }
  return least;
}

TEST(Stages, TakeTheLeastTime) {
  Rng rng(5);
  size_t mixed = 0, divided = 0;
  for (int round = 0; round < 500; ++round) {
    const Program program = random_program(rng, 1 + rng.below(9));
    const size_t streams = 1 + rng.below(3);
    const auto fork = static_cast<Nanoseconds>(rng.below(6));
    const std::vector<Stage> stages = choose_stages(program.graph, program.times(), streams, fork);
    EXPECT_EQ(time_of(program, stages, streams, fork), least_time(program, 0, streams, fork));
    ASSERT_FALSE(stages.empty());
    EXPECT_EQ(stages.front().begin, 0U);
    EXPECT_EQ(stages.back().end, program.alone.size());
    for (size_t i = 1; i < stages.size(); ++i) {
      EXPECT_EQ(stages[i].begin, stages[i - 1].end);
      EXPECT_TRUE(stages[i].kind != StageKind::AllCores || stages[i - 1].kind != StageKind::AllCores)
          << "they are one stage";
      mixed += stages[i].kind != stages[i - 1].kind ? 1 : 0;
      divided += stages[i].kind == StageKind::Divided ? 1 : 0;
    }
  }
  EXPECT_GT(mixed, 100U);
  EXPECT_GT(divided, 100U);
}

TEST(Stages, OfNothingAreNone) { EXPECT_TRUE(choose_stages(TaskGraph(), {}, 2, 1).empty()); }

/// Tasks that take so long on one core and on all, one after the other.
Program chain_of(TaskId tasks, Nanoseconds one, Nanoseconds all) {
  Program out;
  const ResourceSetId core = out.graph.add_resources({{out.graph.add_resource("core", 2)}});
  for (TaskId task = 0; task < tasks; ++task) {
    out.graph.add_task({one, core});
    out.alone.push_back(all);
    if (task > 0) out.graph.add_edge(task - 1, task);
  }
  return out;
}

TEST(Stages, OfAChainHaveAllCores) {
  const Program chain = chain_of(1000, 10, 6);
  EXPECT_EQ(choose_stages(chain.graph, chain.times(), 2, 1), (std::vector<Stage>{{0, 1000, StageKind::AllCores}}));
}

TEST(Stages, AreNotSideBySideIfNeighborsAreTooSlow) {
  Program two = chain_of(2, 100, 60);
  two.graph.remove_edge(0, 1);
  Neighborhood memory{.costs = {.slowdown = {{{1, 1}, {1, 1.1}}}}, .memory_share = {1, 1}};
  const auto kind = [&] {
    const std::vector<Stage> stages = choose_stages(two.graph, two.times(), 2, 5, memory);
    EXPECT_EQ(stages.size(), 1U);
    return stages[0].kind;
  };
  EXPECT_EQ(kind(), StageKind::SideBySide) << "115 < 120";
  memory.costs.slowdown[1][1] = 1.2;
  EXPECT_EQ(kind(), StageKind::AllCores) << "125 > 120";
  two.parts = {47, 47};
  EXPECT_EQ(kind(), StageKind::Divided) << "5 + 2 * 1.2 * 47 = 117.8";
  two.parts = {49, 49};
  EXPECT_EQ(kind(), StageKind::AllCores) << "122.6 > 120";
}

TEST(Stages, CutAndJoinAroundDividedTasks) {
  Program chain = chain_of(3, 1000, 600);
  chain.parts = {0, 540, 540};  // the first one has no parts
  Neighborhood inputs{.costs = {.cache_us = 0.0001}, .inputs = {{}, {{0, 1000}}, {{1, 1000}}}};
  EXPECT_EQ(choose_stages(chain.graph, chain.times(), 2, 5, inputs),
            (std::vector<Stage>{{0, 1, StageKind::AllCores}, {1, 3, StageKind::Divided}}))
      << "5 + 100 + 540 + 540 < 1200: the second input is in parts already";
  inputs.inputs[2] = {{1, 1000}, {0, 1000}, {0, 1000}};
  EXPECT_EQ(choose_stages(chain.graph, chain.times(), 2, 5, inputs).size(), 2U) << "the first result is cut once";
  inputs.costs.cache_us = 0.0002;
  EXPECT_EQ(choose_stages(chain.graph, chain.times(), 2, 5, inputs).size(), 1U) << "5 + 200 + 1080 > 1200";
  inputs.inputs[2] = {{1, 1000}};
  chain.parts = {540, 540, 0};
  inputs.costs.cache_us = 0.0001;
  EXPECT_EQ(choose_stages(chain.graph, chain.times(), 2, 5, inputs),
            (std::vector<Stage>{{0, 2, StageKind::Divided}, {2, 3, StageKind::AllCores}}))
      << "the first result is not joined, since only a part reads it";
  inputs.costs.cache_us = 0.0002;
  EXPECT_EQ(choose_stages(chain.graph, chain.times(), 2, 5, inputs).size(), 1U);
}

}  // namespace
}  // namespace isomer
