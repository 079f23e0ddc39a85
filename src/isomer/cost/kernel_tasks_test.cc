#include "isomer/cost/kernel_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/cost/critical_path.h"
#include "isomer/cost/roofline.h"
#include "isomer/eval/random_graph_testing.h"
#include "isomer/ops/graph_testing.h"
#include "isomer/plan/simulate.h"

namespace isomer {
namespace {

constexpr double kRounding = 1e-3;  // of tasks, to nanoseconds

double makespan_us(const Graph& graph, RooflineCost& costs, uint32_t cores) {
  const auto schedule = simulate(kernel_tasks(graph, costs.kernels(graph).value(), cores).graph);
  return 1e-3 * static_cast<double>(schedule->makespan);
}

double path_us(const Graph& graph, RooflineCost& costs) {
  return 1e-3 * static_cast<double>(critical_path(kernel_tasks(graph, costs.kernels(graph).value(), 1).graph)->length);
}

TEST(KernelTasks, BranchesRunSideBySide) {
  // 0.5 us of overhead for each kernel; nothing else takes time.
  RooflineCost costs({}, {.flops_per_second = 1e30, .bytes_per_second = 1e30, .kernel_overhead_us = 0.5});
  const Graph graph = parsed(
      "input x: f32[4,4]\n a = Softmax(x)\n b = Transpose(x) {perm=[1,0]}\n c = Softmax(b)\n v = Reshape(c) "
      "{shape=[16]}\n"
      " d = MatMul(a, b)\n return d, v");
  const Metrics metrics = costs.metrics(graph).value();
  EXPECT_EQ(metrics.latency_us, 2);
  EXPECT_EQ(metrics.critical_path_us, 1) << "b before c, and a or b before d";
  EXPECT_NEAR(makespan_us(graph, costs, 1), 2, kRounding);
  EXPECT_NEAR(makespan_us(graph, costs, 2), 1, kRounding);
}

TEST(KernelTasks, ThePathOfACostIsThatOfItsTasks) {
  RooflineCost costs;
  size_t shorter = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Graph graph = RandomMatrixGraph(seed).build();
    const Metrics metrics = costs.metrics(graph).value();
    EXPECT_NEAR(metrics.critical_path_us, path_us(graph, costs), kRounding * (metrics.kernels + 1)) << seed;
    EXPECT_LE(metrics.critical_path_us, metrics.latency_us) << seed;
    if (metrics.critical_path_us < 0.9 * metrics.latency_us) ++shorter;
  }
  EXPECT_GT(shorter, 20);
}

TEST(KernelTasks, KnowTheBytesThatTheyRead) {
  RooflineCost costs;
  const Graph graph = parsed(
      "input x: f32[4,4]\n a = Softmax(x)\n v = Reshape(a) {shape=[2,8]}\n b = Softmax(v)\n j = Concat(v, b) {axis=0}\n"
      " c = Softmax(j)\n return c");
  const auto kernels = costs.kernels(graph).value();
  const KernelTasks tasks = kernel_tasks(graph, kernels, 2, costs.value_bytes(graph));
  ASSERT_EQ(tasks.inputs.size(), kernels.size());
  double bytes = 0;
  for (TaskId task = 0; task < kernels.size(); ++task) {
    for (const TaskInput& input : tasks.inputs[task]) {
      EXPECT_GT(std::ranges::count(tasks.graph.predecessors(task), input.from), 0) << task;
      bytes += input.bytes;
    }
  }
  EXPECT_TRUE(tasks.inputs[0].empty()) << "the input of the model";
  EXPECT_EQ(bytes, 64 + 2 * 64 + 128) << "b reads a; j, or c in place of it, reads a and b; c reads j";
  EXPECT_TRUE(kernel_tasks(graph, kernels, 2).inputs.empty());
}

}  // namespace
}  // namespace isomer
