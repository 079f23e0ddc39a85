// Kernels on several streams: against the plan with one stream, and against the independent checker of plans.

#include "isomer/engine/onednn/streams.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/canonical.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/plan_state.h"
#include "isomer/engine/onednn/testing.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/workspace.h"
#include "isomer/plan/checker/check_plan.h"

namespace isomer::onednn {
namespace {

/// Returns a graph of branches over images: convolutions, pools, sums, concatenations, and reference kernels (Sign).
std::string branches(uint64_t seed) {
  Rng rng(seed);
  std::vector<std::string> images{"x"};
  std::string text =
      "input x: f32[1,16,6,6]\nw = f32[16,16,3,3]{seed 3}\np = f32[16,16,1,1]{seed 4}\n"
      "q = f32[16,32,1,1]{seed 5}\n";
  const auto any = [&] { return images[images.size() - 1 - rng.below(std::min<size_t>(images.size(), 5))]; };
  const size_t size = 6 + rng.below(14);
  for (size_t i = 0; i < size; ++i) {
    const std::string name = fmt::format("v{}", i);
    switch (rng.below(8)) {
      case 0:
      case 1:
        text += fmt::format("{} = Conv({}, w) {{pads=[1,1,1,1]}}\n", name, any());
        break;
      case 2:
        text += fmt::format("{} = Conv({}, p)\n", name, any());
        break;
      case 3:
        text += fmt::format("{} = Relu({})\n", name, any());
        break;
      case 4:
        text += fmt::format("{} = MaxPool({}) {{kernel_shape=[3,3], pads=[1,1,1,1]}}\n", name, any());
        break;
      case 5:
        text += fmt::format("c{} = Concat({}, {}) {{axis=1}}\n{} = Conv(c{}, q)\n", i, any(), any(), name, i);
        break;
      case 6:
        text += fmt::format("{} = Sign({})\n", name, any());
        break;
      default:
        text += fmt::format("{} = Add({}, {})\n", name, any(), any());
    }
    images.push_back(name);
  }
  return with_windows(text + fmt::format("y = Concat({}, {}) {{axis=1}}\nreturn y, {}", any(), any(), images.back()));
}

void expect_sound(const Program& program) {
  std::vector<BufferId> ids;
  const MemoryAccesses memory = arena_accesses(program, ids);
  ArenaLayout layout{.offsets = {}, .bytes = program.arena_bytes};
  for (const BufferId id : ids) layout.offsets.push_back(program.buffers[id].index);
  const std::vector<double> durations(program.kernels.size(), 1);
  for (const PlanFault& fault : check_order(tasks_of(program, durations), program.order))
    ADD_FAILURE() << fault.message;
  for (const PlanFault& fault : check_memory(memory, layout, program.order, program.kernels.size()))
    ADD_FAILURE() << fault.message;
}

TEST(Streams, GiveTheOutputsOfOneStream) {
  size_t several = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = graph_of(branches(seed));
    const std::vector<Tensor> inputs = inputs_of(graph);
    const auto expected = plan_of(graph, inputs).run(inputs);
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    for (const int streams : {2, 3, 5}) {
      const Plan plan = plan_of(graph, inputs, {.streams = streams, .tune = seed % 2 == 0});
      EXPECT_LE(plan.streams(), static_cast<size_t>(streams));
      several += plan.streams() > 1 ? 1 : 0;
      if (plan.streams() > 1) expect_sound(plan.state().program);
      for (int run = 0; run < 3; ++run) {
        const auto got = plan.run(inputs);
        ASSERT_TRUE(got.has_value()) << got.error().message;
        // Tuned kernels may be other ones.
        for (size_t i = 0; i < expected->size(); ++i)
          EXPECT_LE(difference((*got)[i], (*expected)[i]), seed % 2 == 0 ? 1e-4 : 0) << branches(seed);
      }
    }
  }
  EXPECT_GT(several, 100U);
}

// A missing synchronization shows up only if kernels take unusual times.
TEST(Streams, WaitForEachOtherWhateverTheTimes) {
  Rng delays(7);
  std::mutex lock;
  for (uint64_t seed = 100; seed < 120; ++seed) {
    const Graph graph = graph_of(branches(seed));
    const std::vector<Tensor> inputs = inputs_of(graph);
    const auto expected = plan_of(graph, inputs).run(inputs);
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    const Plan plan = plan_of(graph, inputs, {.streams = 3, .tune = false});
    const Program& program = plan.state().program;
    Workspace workspace(program);
    workspace.disturb([&](size_t) {
      uint64_t wait = 0;
      {
        const std::lock_guard guard(lock);
        wait = delays.below(4) == 0 ? delays.below(300) : 0;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(wait));
    });
    for (int run = 0; run < 5; ++run) {
      std::vector<Tensor> outputs = empty_outputs(program);
      ASSERT_TRUE(workspace.run(inputs, outputs).has_value());
      for (size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], (*expected)[i]);
    }
  }
}

/// Whether a task ends before another one starts, because streams and synchronizations say so.
bool is_before(const StreamPlan& plan, TaskId one, TaskId other) {
  std::vector<TaskId> open{one};
  std::set<TaskId> seen;
  while (!open.empty()) {
    const TaskId task = open.back();
    open.pop_back();
    if (task == other) return true;
    if (!seen.insert(task).second) continue;
    for (const std::vector<TaskId>& stream : plan.streams)
      for (size_t i = 1; i < stream.size(); ++i)
        if (stream[i - 1] == task) open.push_back(stream[i]);
    for (const Synchronization& sync : plan.synchronizations)
      if (sync.before == task) open.push_back(sync.after);
  }
  return false;
}

TEST(Streams, KernelsWithSeveralThreadsRunByThemselves) {
  size_t mixed = 0;
  Rng rng(3);
  for (uint64_t seed = 200; seed < 240; ++seed) {
    const Graph graph = graph_of(branches(seed));
    const std::vector<Tensor> inputs = inputs_of(graph);
    const auto expected = plan_of(graph, inputs).run(inputs);
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    std::vector<int> threads;
    for (int group = 0; group < 100; ++group) threads.push_back(rng.below(3) == 0 ? 2 : 1);
    const ThreadScope alone(1);
    Program program =
        lower(canonicalize(graph, types_of(inputs)).value(), make_tuner(false), {.threads = threads}).value();
    ASSERT_TRUE(order_on_streams(program, 2 + seed % 2).has_value());
    expect_sound(program);
    size_t several = 0;
    for (TaskId k = 0; k < program.kernels.size(); ++k) {
      if (program.kernels[k].threads == 1) continue;
      ++several;
      for (TaskId other = 0; other < program.kernels.size(); ++other)
        EXPECT_TRUE(other == k || is_before(program.order, k, other) || is_before(program.order, other, k));
    }
    mixed += several > 0 && several < program.kernels.size() && program.order.streams.size() > 1 ? 1 : 0;
    Workspace workspace(program);
    for (int run = 0; run < 5; ++run) {
      std::vector<Tensor> outputs = empty_outputs(program);
      ASSERT_TRUE(workspace.run(inputs, outputs).has_value());
      for (size_t i = 0; i < outputs.size(); ++i) EXPECT_LE(difference(outputs[i], (*expected)[i]), 1e-5);
    }
  }
  EXPECT_GT(mixed, 20U);
}

/// A chain of large convolutions, and small kernels after it.
Graph large_and_small() {
  return graph_of(
      with_windows("input x: f32[1,64,56,56]\nw = f32[64,64,3,3]{seed 3}\nv = f32[64,64,3,3]{seed 4}\n"
                   "a = Conv(x, w) {pads=[1,1,1,1]}\nb = Conv(a, v) {pads=[1,1,1,1]}\n"
                   "m = GlobalAveragePool(b)\nc = Softplus(m)\nd = Exp(m)\nreturn c, d"));
}

TEST(Streams, LargeKernelsOfAChainHaveSeveralThreads) {
  const Graph graph = large_and_small();
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs, {.streams = 2, .tune = false});
  const auto& kernels = plan.state().program.kernels;
  const auto threads_of = [&](const char* name) {
    const auto found = std::ranges::find_if(kernels, [&](const Kernel& kernel) { return kernel.name == name; });
    return found == kernels.end() ? 0 : found->threads;
  };
  EXPECT_EQ(threads_of("Conv"), 2);
  EXPECT_EQ(threads_of("Softplus"), 1);
  expect_sound(plan.state().program);
  expect_as_reference(graph, inputs, {.streams = 2, .tune = false});
  const PlanOptions no_stages{.streams = 2, .stages = false, .tune = false};
  const Plan side_by_side = plan_of(graph, inputs, no_stages);
  for (const Kernel& kernel : side_by_side.state().program.kernels) EXPECT_EQ(kernel.threads, 1) << kernel.name;
  expect_as_reference(graph, inputs, no_stages);
}

/// Kernels that bring outputs to the caller's layout have their own number of threads.
TEST(Streams, LargeOutputsDoNotDecideAboutTheLastKernel) {
  const Graph graph =
      graph_of(with_windows("input x: f32[1,16,128,128]\nw = f32[32,16,3,3]{seed 3}\ny = Conv(x, w) {pads=[1,1,1,1]}\n"
                            "m = GlobalAveragePool(y)\nz = Softplus(m)\nreturn y, z"));
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs, {.streams = 2, .tune = false});
  std::map<std::string, int> threads;
  for (const Kernel& kernel : plan.state().program.kernels) threads[kernel.name] = kernel.threads;
  EXPECT_EQ(threads.at("Softplus"), 1);
  EXPECT_EQ(threads.at("reorder"), 2);
  expect_as_reference(graph, inputs, {.streams = 2, .tune = false});
}

/// The number of threads of the kernels that compute each value.
std::map<ValueId, int> threads_by_value(const Program& program) {
  std::map<ValueId, int> out;
  for (const Kernel& kernel : program.kernels)
    if (kernel.group < program.groups.size())
      out[program.graph.node(program.groups[kernel.group]).result()] = kernel.threads;
  return out;
}

TEST(Streams, HaveTheDecidedTeams) {
  Rng rng(5);
  size_t several = 0;
  for (uint64_t seed = 300; seed < 330; ++seed) {
    const Graph graph = graph_of(branches(seed));
    const std::vector<Tensor> inputs = inputs_of(graph);
    PlanOptions options{.streams = 3, .tune = false};
    for (const Node& node : graph.nodes())
      if (graph.runs(node) && rng.below(2) == 0)
        options.decisions.teams[node.result()] = rng.below(2) == 0 ? Team::All : Team::One;
    expect_as_reference(graph, inputs, options);
    const Plan plan = plan_of(graph, inputs, options);
    const Program& program = plan.state().program;
    if (!program.order.streams.empty()) expect_sound(program);
    const Candidate canonical = canonicalize(graph, types_of(inputs), options.decisions).value();
    const auto threads = threads_by_value(program);
    for (const auto& [value, team] : canonical.decisions.teams) {
      const auto found = threads.find(value);
      if (found == threads.end()) continue;  // within a kernel
      EXPECT_EQ(found->second, team == Team::All ? 3 : 1) << canonical.graph.name(value);
      several += team == Team::All ? 1 : 0;
    }
    options.stages = false;
    const Plan one = plan_of(graph, inputs, options);
    for (const Kernel& kernel : one.state().program.kernels) EXPECT_EQ(kernel.threads, 1);
  }
  EXPECT_GT(several, 30U);
}

/// Without decisions, the convolutions have two threads, and the kernels after them have one.
TEST(Streams, DecidedTeamsComeBeforeEstimates) {
  const Graph graph = large_and_small();
  PlanOptions options{.streams = 2, .tune = false};
  for (const Node& node : graph.nodes())
    if (graph.runs(node)) options.decisions.teams[node.result()] = node.op->name == "Conv" ? Team::One : Team::All;
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs, options);
  for (const Kernel& kernel : plan.state().program.kernels) {
    if (kernel.name != "reorder") {
      EXPECT_EQ(kernel.threads, kernel.name == "Conv" ? 1 : 2) << kernel.name;
    }
  }
  expect_as_reference(graph, inputs, options);
}

TEST(Streams, ATeamOfAnIdentityIsThatOfWhatRemains) {
  const Graph graph = graph_of("input x: f32[4]\na = Softplus(x)\nb = Identity(a)\nc = Exp(b)\nreturn c");
  ValueId identity = kNoValue;
  for (const Node& node : graph.nodes())
    if (node.op->name == "Identity") identity = node.result();
  const std::vector<Tensor> inputs = inputs_of(graph);
  PlanOptions options{.streams = 2, .tune = false};
  EXPECT_EQ(plan_of(graph, inputs, options).state().program.kernels.front().threads, 1);
  options.decisions.teams[identity] = Team::All;
  EXPECT_EQ(plan_of(graph, inputs, options).state().program.kernels.front().threads, 2);
}

TEST(Streams, DoNotRunInAParallelRegion) {
  const Graph graph = graph_of(branches(11));
  const std::vector<Tensor> inputs = inputs_of(graph);
  for (const PlanOptions& options :
       {PlanOptions{.streams = 2, .tune = false}, PlanOptions{.threads = 2, .tune = false}}) {
    const Plan plan = plan_of(graph, inputs, options);
    as_team(2, [&](size_t, size_t) {
      const auto got = plan.run(inputs);
      ASSERT_FALSE(got.has_value());
      EXPECT_THAT(got.error().message, ::testing::HasSubstr("parallel region"));
    });
    EXPECT_TRUE(plan.run(inputs).has_value());
  }
}

// The system may have fewer threads than there are streams.
TEST(Streams, RunInFewerThreads) {
  for (const size_t threads : {1, 2}) {
    const Graph graph = graph_of(branches(3));
    const std::vector<Tensor> inputs = inputs_of(graph);
    const auto expected = plan_of(graph, inputs).run(inputs);
    const Plan plan = plan_of(graph, inputs, {.streams = 4, .tune = false});
    ASSERT_GT(plan.streams(), 2U);
    const Program& program = plan.state().program;
    Workspace workspace(program);
    workspace.run_in(threads);
    std::vector<Tensor> outputs = empty_outputs(program);
    ASSERT_TRUE(workspace.run(inputs, outputs).has_value());
    for (size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], (*expected)[i]);
  }
}

TEST(Streams, SeveralRunsAtOnce) {
  const Graph graph = graph_of(branches(11));
  const std::vector<Tensor> inputs = inputs_of(graph);
  const auto expected = plan_of(graph, inputs).run(inputs);
  const Plan plan = plan_of(graph, inputs, {.streams = 2, .tune = false});
  ASSERT_EQ(plan.streams(), 2U);
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (int run = 0; run < 10; ++run) {
        const auto got = plan.run(inputs);
        ASSERT_TRUE(got.has_value()) << got.error().message;
        for (size_t i = 0; i < got->size(); ++i) EXPECT_EQ((*got)[i], (*expected)[i]);
      }
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(Streams, FailAsOneStreamDoes) {
  const Graph graph =
      graph_of("input x: f32[4]\ninput i: i64[2]\na = Softplus(x)\nb = Gather(x, i) {axis=0}\nc = Exp(a)\nreturn b, c");
  const std::vector<Tensor> good{Tensor::floats({4}, {1, 2, 3, 4}), Tensor::ints({2}, {0, 3})};
  const std::vector<Tensor> bad{good[0], Tensor::ints({2}, {0, 9})};
  const Plan one = plan_of(graph, good);
  const Plan two = plan_of(graph, good, {.streams = 2, .tune = false});
  ASSERT_EQ(two.streams(), 2U);
  const auto expected = one.run(bad);
  const auto got = two.run(bad);
  ASSERT_FALSE(expected.has_value());
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().message, expected.error().message);
  EXPECT_TRUE(two.run(good).has_value()) << "a failed run leaves nothing behind";
}

TEST(Streams, WhatAKernelThrowsReachesTheCaller) {
  const Graph graph = graph_of(branches(11));
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs, {.streams = 2, .tune = false});
  const Program& program = plan.state().program;
  ASSERT_EQ(program.order.streams.size(), 2U);
  for (const std::vector<TaskId>& stream : program.order.streams) {
    Workspace workspace(program);
    workspace.disturb([&](size_t kernel) {
      if (kernel == stream[1]) throw std::bad_alloc();
    });
    std::vector<Tensor> outputs = empty_outputs(program);
    EXPECT_THROW(static_cast<void>(workspace.run(inputs, outputs)), std::bad_alloc);
    workspace.disturb(nullptr);
    EXPECT_TRUE(workspace.run(inputs, outputs).has_value()) << "a failed run leaves nothing behind";
  }
}

TEST(Streams, ReferenceKernelsOfSeveralStreamsHoldTheirResultsAtOnce) {
  const Graph graph =
      graph_of("input x: f32[100]\ninput y: f32[100]\nc = Sign(x)\na = Sign(c)\nd = Sign(y)\nb = Sign(d)\nreturn a, b");
  const std::vector<Tensor> inputs = inputs_of(graph);
  EXPECT_EQ(plan_of(graph, inputs).memory().results, 400U);
  EXPECT_EQ(plan_of(graph, inputs, {.streams = 2, .tune = false}).memory().results, 800U);
}

TEST(Streams, PlansAreTheSameEachTime) {
  const Graph graph = graph_of(branches(5));
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan one = plan_of(graph, inputs, {.streams = 2, .tune = false});
  const Plan other = plan_of(graph, inputs, {.streams = 2, .tune = false});
  EXPECT_EQ(one.state().program.order, other.state().program.order);
  EXPECT_EQ(one.memory().arena, other.memory().arena);
}

TEST(Streams, HaveOneThreadEach) {
  const Graph graph = graph_of(branches(5));
  const auto types = types_of(inputs_of(graph));
  EXPECT_FALSE(Plan::make(graph, types, {.threads = 2, .streams = 2}).has_value());
}

// oneDNN's batch normalization waits at a barrier of OpenMP, which must not be one of the streams.
TEST(Streams, RunKernelsThatWaitForTheThreadsOfOpenMp) {
  const Graph graph = graph_of(
      "input x: f32[2,5,6,4]\ns = f32[5]{seed 2}\nb = f32[5]{seed 3}\ny = InstanceNormalization(x, s, b)\n"
      "z = Softplus(x)\nreturn y, z");
  expect_as_reference(graph, inputs_of(graph), {.streams = 2, .tune = false});
}

TEST(Streams, KernelsOfAChainAreOnOne) {
  const Graph graph = graph_of("input x: f32[8]\na = Softplus(x)\nb = Exp(a)\nreturn b");
  const std::vector<Tensor> inputs = inputs_of(graph);
  EXPECT_EQ(plan_of(graph, inputs, {.streams = 4, .tune = false}).streams(), 1U);
}

TEST(Streams, TracesSayOnWhichStreamAKernelRan) {
  const Graph graph = graph_of(branches(11));
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs, {.streams = 2, .tune = false});
  const auto run = plan.trace(inputs);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  const StreamPlan& order = plan.state().program.order;
  ASSERT_EQ(run->kernels.size(), plan.kernels().size());
  for (size_t s = 0; s < order.streams.size(); ++s)
    for (const TaskId kernel : order.streams[s]) EXPECT_EQ(run->kernels[kernel].stream, s);
  for (const Synchronization& one : order.synchronizations)
    EXPECT_LE(run->kernels[one.before].start + run->kernels[one.before].duration, run->kernels[one.after].start + 1e-3);
}

}  // namespace
}  // namespace isomer::onednn
