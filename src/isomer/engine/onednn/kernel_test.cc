#include "isomer/engine/onednn/kernel.h"

#include <gtest/gtest.h>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/plan.h"
#include "isomer/engine/onednn/planner.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Graph graph_of(const std::string& text) {
  auto graph = parse_graph(text, find_op);
  if (!graph) throw std::runtime_error(graph.error().message);
  return std::move(*graph);
}

/// Returns the kernels that the planner makes of a graph, by their operators.
std::vector<std::string> kernels_of(const Graph& graph, const KernelPlan& plan) {
  std::vector<std::string> names;
  for (size_t i = 0; i < plan.size(); ++i) {
    names.emplace_back();
    for (const NodeId id : plan.kernel(i)) names.back() += (names.back().empty() ? "" : "+") + graph.node(id).op->name;
  }
  return names;
}

KernelPlan plan_of(const Graph& graph) { return OnednnPlanner(onednn::native_block()).plan(graph).value(); }

constexpr const char* kUnitWindow = "{strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}";

TEST(OnednnPlanner, PlansForExtentsThatAreNotKnown) {
  const Graph graph = graph_of(std::string("input x: f32[N,16,8,8]\nw = f32[16,16,3,3]{seed 1}\nc = Conv(x, w) ") +
                               kUnitWindow + "\ns = Add(c, x)\ny = Relu(s)\nreturn y");
  const KernelPlan plan = plan_of(graph);
  EXPECT_EQ(kernels_of(graph, plan), std::vector<std::string>{"Conv+Add+Relu"});
  EXPECT_EQ(plan.reorders.size(), 2U) << "x to blocks, y back";
}

TEST(OnednnPlanner, LeavesOperandsThatBroadcastAsTheyAre) {
  const Graph graph =
      graph_of(std::string("input x: f32[1,3,8,8]\ninput s: f32[]\nw = f32[16,3,3,3]{seed 1}\nc = Conv(x, w) ") +
               kUnitWindow + "\ny = Add(c, s)\nreturn y");
  for (const auto& reorder : plan_of(graph).reorders) EXPECT_EQ(graph.type(reorder.value).rank(), 4U);
}

// As a plan does, for which it will be a constant: the sum is not computed in its place.
TEST(OnednnPlanner, AddsAWeightThatIsNotFoldedYet) {
  const Graph graph =
      graph_of(std::string("input x: f32[1,16,8,8]\nw = f32[16,16,3,3]{seed 1}\nu = f32[1,16,8,8]{seed 2}\n"
                           "v = Abs(u)\nc = Conv(x, w) ") +
               kUnitWindow + "\ny = Add(c, v)\nreturn y");
  const KernelPlan plan = plan_of(graph);
  EXPECT_EQ(kernels_of(graph, plan), std::vector<std::string>{"Conv+Add"});
  for (const auto& reorder : plan.reorders) EXPECT_FALSE(graph.is_constant_derived(reorder.value));
}

TEST(OnednnPlanner, MeasuresNothingAfterTheDeadline) {
  const Graph graph = graph_of(std::string("input x: f32[1,16,8,8]\nw = f32[16,16,3,3]{seed 1}\nc = Conv(x, w) ") +
                               kUnitWindow + "\nd = Conv(c, w) " + kUnitWindow + "\nreturn d");
  const OnednnPlanner planner(onednn::native_block(), onednn::make_tuner(true));
  const auto late = planner.plan(graph, {}, {}, Deadline::after(0));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().message, "c: no time is left to measure which kernel is fastest");
  const KernelPlan plan = planner.plan(graph).value();
  const KernelPlan again = planner.plan(graph, {}, {}, Deadline::after(0)).value();
  EXPECT_EQ(again.layouts, plan.layouts) << "what is known is used";
}

Result<KernelTime> timed(const KernelRun& run) {
  NoiseFilter noise_filter([] { return 1.0; });
  onednn::FarMemory far;
  return time_on_plan(run, {}, onednn::make_tuner(false), noise_filter, far);
}

/// Runs only this kernel on operands in the layouts that `intake` gives.
double microseconds(const Graph& graph, Intake intake) {
  KernelRun run{.graph = graph};
  for (const Node& node : graph.nodes())
    run.intakes.push_back(node.is_input() || node.is_constant() ? Intake::Own : intake);
  const auto time = timed(run);
  if (!time) throw std::runtime_error(time.error().message);
  EXPECT_GT(time->runs, 0);
  return time->us;
}

TEST(OnednnKernel, TimesWhateverArrives) {
  const std::string blocked = "input x: f32[1,20,8,8]\n";
  EXPECT_GT(microseconds(graph_of(blocked + "y = Abs(x)\nreturn y"), Intake::Blocked), 0);
  EXPECT_GT(microseconds(graph_of(blocked + "input s: f32[]\ny = Mul(x, s)\nreturn y"), Intake::Blocked), 0);
  EXPECT_GT(microseconds(graph_of(blocked + "input b: f32[8]\ny = Add(x, b)\nreturn y"), Intake::Blocked), 0);
  const std::string sum = "e = Exp(x)\nf = Greater(e, x)\ng = Where(f, e, x)\n";
  for (const char* last : {"y = Neg(g)", "y = ReduceMean(g) {axes=[0,2,3]}", "y = Sub(g, s)"})
    for (const Intake intake : {Intake::Blocked, Intake::Plain})
      EXPECT_GT(
          microseconds(graph_of("input x: f32[1,32,8,8]\ninput s: f32[32,1,1]\n" + sum + last + "\nreturn y"), intake),
          0);
  EXPECT_GT(
      microseconds(graph_of("input i: i64[4]\nt = f32[2,8]{seed 1}\ny = Gather(t, i) {axis=0}\nreturn y"), Intake::Own),
      0)
      << "indices into two rows";
}

TEST(OnednnKernel, TimesWeightsThatAreReadInARow) {
  const auto runs = [](int size, const WeightReads& weights) {
    KernelRun run{.graph = graph_of(fmt::format(
                      "input x: f32[1,{0}]\nw = f32[{0},{0}]{{seed 1}}\ny = MatMul(x, w)\nreturn y", size))};
    run.intakes.assign(run.graph.nodes().size(), Intake::Own);
    run.weights = weights;
    return timed(run)->runs;
  };
  constexpr double kMegabyte = 1 << 20;
  const WeightReads in_a_row{.distance = 4 * kMegabyte, .in_a_row = 3, .other_distance = 16 * kMegabyte};
  EXPECT_EQ(runs(512, in_a_row), 4 * 4 * 4 * 2) << "4 cycles of 4 groups of 4 copies of 1 MB, without the first rounds";
  const WeightReads first{.distance = 16 * kMegabyte, .in_a_row = 3, .other_distance = 4 * kMegabyte};
  EXPECT_EQ(runs(512, first), 4 * 4 * 4) << "the first rounds alone";
  EXPECT_NE(runs(64, in_a_row), 4 * 4 * 256 * 2) << "as others: 256 copies in a group are too many for cycles";
  EXPECT_GE(runs(512, {.distance = 4 * kMegabyte}), 9);
}

TEST(OnednnKernel, TimesReorders) {
  const Graph graph = graph_of("input x: f32[1,32,14,14]\nreturn x");
  for (const Layout to : {Layout::Plain, Layout::Blocked}) {
    NoiseFilter noise_filter([] { return 1.0; });
    const auto time = timed({.graph = graph, .reorder_to = to});
    ASSERT_TRUE(time.has_value()) << time.error().message;
    EXPECT_GT(time->us, 0);
  }
}

// Values that a concatenation in place copies may have any rank; only those with three or more axes can be blocked.
TEST(OnednnKernel, TimesCopiesOfWhatIsNeverBlocked) {
  const Graph rows = graph_of("input x: f32[8,64]\nreturn x");
  NoiseFilter noise_filter([] { return 1.0; });
  const auto time = timed({.graph = rows, .reorder_to = Layout::Plain});
  ASSERT_TRUE(time.has_value()) << time.error().message;
  EXPECT_GT(time->us, 0);
  const Graph scalar = graph_of("input x: f32[]\nreturn x");
  EXPECT_TRUE(timed({.graph = scalar, .reorder_to = Layout::Plain}).has_value());
}

}  // namespace
}  // namespace isomer
