#include "isomer/cost/kernel_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "isomer/base/temp_dir.h"
#include "isomer/cost/kernel_tasks.h"
#include "isomer/engine/ort/planner.h"
#include "isomer/engine/stub_testing.h"
#include "isomer/ops/graph_testing.h"
#include "isomer/plan/simulate.h"

namespace isomer {
namespace {

using testing::HasSubstr;

/// Groups nodes as ONNX Runtime does, and "measures" by counting.
class CountingEngine : public StubEngine {
 public:
  const KernelPlanner* planner() const override { return &planner_; }
  std::vector<int64_t> channel_blocks() const override { return {16}; }
  Result<double> kernel_overhead() override {
    ++overheads;
    return overhead;
  }
  Result<KernelTime> time_kernel(const KernelRun& run, double overhead_us) override {
    ++timed;
    reads.push_back(run.weights);
    if (run.reorder_to) return KernelTime{.us = 1000, .runs = 1};
    double us = overhead_us;
    for (const Node& node : run.graph.nodes()) {
      if (node.op->name == "Erf") return fail("no Erf here");
      if (!node.is_input() && !node.is_constant()) us += 10;
    }
    return KernelTime{.us = us, .runs = 1};
  }

  std::vector<Result<KernelTime>> time_kernels(std::span<const KernelRun> runs, double overhead_us) override {
    batches.push_back(runs.size());
    return StubEngine::time_kernels(runs, overhead_us);
  }
  size_t kernels_in_turn() const override { return in_turn; }

  Result<NeighborTimes> neighbor_times() override {
    ++neighbors;
    return NeighborTimes{1, 1, 1, 1, 1, 1.5, 1, 1, 1, 1};
  }

  double overhead = 0.5;
  int timed = 0;
  int neighbors = 0;
  int overheads = 0;
  size_t in_turn = 1;
  std::vector<size_t> batches;
  std::vector<WeightReads> reads;

  std::vector<double> distances() const {
    std::vector<double> out;
    for (const WeightReads& one : reads) out.push_back(one.distance);
    return out;
  }

 private:
  const OrtPlanner planner_{16};
};

constexpr std::string_view kConvs = R"(
  input x: f32[1,16,8,8]
  w = f32[16,16,3,3]{seed 1}
  v = f32[16,16,3,3]{seed 2}
  a = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}
  b = Relu(a)
  c = Conv(b, v) {strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}
  d = Relu(c)
  return d)";

class KernelCostTest : public testing::Test {
 protected:
  std::unique_ptr<KernelCost> cost(double footprint = 0) {
    return KernelCost::make(engine_, db_, {.footprint = footprint}).value();
  }
  CountingEngine engine_;
  ProfileDb db_ = ProfileDb::open("").value();
};

TEST_F(KernelCostTest, SumsKernelsAndReordersAndMeasuresEachOnce) {
  const auto model = cost();
  const Metrics metrics = model->metrics(parsed(kConvs)).value();
  // Two kernels of equal signature, a reorder before them and one after.
  EXPECT_EQ(metrics.latency_us, 2 * 20.5 + 2 * 1000);
  EXPECT_EQ(metrics.kernels, 4);
  EXPECT_EQ(engine_.timed, 3);
  EXPECT_EQ(model->measured(), 3);
  EXPECT_EQ(metrics.flops, 2 * (2.0 * 9 * 16 * 1024 + 1024));
  EXPECT_EQ(metrics.bytes, 2 * (4.0 * (1024 + 2304 + 1024)) + 2 * 2 * 4096);
  EXPECT_EQ(metrics.critical_path_us, metrics.latency_us) << "a chain";
  EXPECT_EQ(metrics.peak_bytes, 3 * 4096) << "x with the caller, its copy in blocks, b";
  EXPECT_EQ(model->metrics(parsed(kConvs))->latency_us, metrics.latency_us);
  EXPECT_EQ(engine_.timed, 3);
}

TEST_F(KernelCostTest, MeasuresSeveralKernelsInTurn) {
  engine_.in_turn = 3;
  const auto model = cost();
  const Graph first =
      parsed("input x: f32[4]\na = Exp(x)\nb = Softmax(a) {axis=0}\nc = Exp(b)\nd = Tanh(c)\ne = Sqrt(d)\nreturn e");
  const Candidate known = first;
  const Candidate next = parsed("input x: f32[4]\na = Sqrt(x)\nb = Softmax(a) {axis=0}\nc = Erf(b)\nreturn c");
  const Candidate last = parsed("input x: f32[4]\na = Sigmoid(x)\nb = Sin(a)\nc = Cos(b)\nreturn c");
  std::vector<const Candidate*> expected = {&known, &next, &last};
  size_t asked = 0;
  model->expect([&]() -> const Candidate* { return asked < expected.size() ? expected[asked++] : nullptr; });
  EXPECT_EQ(model->metrics(first)->latency_us, 5 * 10.5);
  EXPECT_EQ(engine_.batches, (std::vector<size_t>{3, 3})) << "Exp, Softmax, Tanh; Sqrt, Erf of the next, and Sigmoid";
  EXPECT_EQ(asked, 3U);
  EXPECT_EQ(model->measured(), 5U);
  const auto failed = model->metrics(next);
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("no Erf here"));
  EXPECT_EQ(engine_.batches.size(), 2U) << "it is not measured again";
  EXPECT_EQ(model->metrics(last)->latency_us, 3 * 10.5);
  EXPECT_EQ(engine_.batches.back(), 2U) << "nothing more is expected";
  model->expect(nullptr);
  EXPECT_TRUE(model->metrics(parsed("input x: f32[4]\na = Neg(x)\nreturn a")).has_value());
  EXPECT_EQ(engine_.batches.back(), 1U);
}

TEST_F(KernelCostTest, LimitsTheWeightsOfKernelsThatAreMeasuredInTurn) {
  engine_.in_turn = 3;
  const auto model = cost();
  std::string text = "input x: f32[1,4096]\n";
  for (const int columns : {5000, 5001, 5002}) {
    text += fmt::format("w{0} = f32[4096,{0}]{{fill 0.5}}\ny{0} = MatMul(x, w{0})\n", columns);
  }
  EXPECT_TRUE(model->metrics(parsed(text + "return y5000, y5001, y5002")).has_value());
  EXPECT_EQ(engine_.batches, (std::vector<size_t>{2, 1})) << "each has 80 MB";
}

/// Reorders are on the path too, also those of a view's result.
TEST_F(KernelCostTest, ThePathIsThatOfTheTasks) {
  const auto model = cost();
  for (const std::string& text :
       {std::string(kConvs),
        std::string("input x: f32[1,16,64]\nw = f32[16,16,1,1]{seed 1}\ns = Softmax(x) {axis=2}\n"
                    "v = Reshape(s) {shape=[1,16,8,8]}\n"
                    "c = Conv(v, w) {pads=[0,0,0,0], strides=[1,1], dilations=[1,1]}\nreturn c\n")}) {
    const Graph graph = parsed(text);
    const Metrics metrics = model->metrics(graph).value();
    const TaskGraph tasks = kernel_tasks(graph, model->kernels(graph).value(), 4).graph;
    EXPECT_GT(metrics.kernels, 2);
    EXPECT_EQ(metrics.critical_path_us, metrics.latency_us) << "a chain";
    EXPECT_NEAR(1e-3 * static_cast<double>(critical_path(tasks)->length), metrics.critical_path_us, 0.01);
    EXPECT_EQ(simulate(tasks)->makespan, critical_path(tasks)->length);
  }
}

TEST_F(KernelCostTest, ListsKernelsInTheOrderOfTheGraph) {
  const auto model = cost();
  const auto kernels = model->kernels(parsed(kConvs)).value();
  ASSERT_EQ(kernels.size(), 4);
  const std::vector<bool> reorders{kernels[0].reorder, kernels[1].reorder, kernels[2].reorder, kernels[3].reorder};
  EXPECT_EQ(reorders, (std::vector<bool>{true, false, false, true}));
  double sum = 0;
  for (const PlannedKernel& kernel : kernels) sum += kernel.us;
  EXPECT_EQ(sum, model->metrics(parsed(kConvs))->latency_us);
  EXPECT_EQ(kernels[1].nodes.size(), 2) << "a convolution and its relu";
  EXPECT_LT(kernels[1].nodes.back(), kernels[2].nodes.front());
}

TEST_F(KernelCostTest, KnowsTheLatencyOfWhatWasMeasured) {
  const char* whole = "input x: f32[4]\n a = Exp(x)\n b = Softmax(a) {axis=0}\n c = Exp(b)\n return c";
  EXPECT_EQ(cost()->known_latency(parsed(whole)), 0);
  ASSERT_TRUE(cost()->metrics(parsed("input x: f32[4]\n a = Exp(x)\n return a")).has_value());
  EXPECT_EQ(cost()->known_latency(parsed(whole)), 2 * 10.5) << "both exponentials";
  EXPECT_EQ(engine_.timed, 1);
  const double all = cost()->metrics(parsed(kConvs))->latency_us;
  EXPECT_EQ(cost()->known_latency(parsed(kConvs)), all) << "reorders, too";
}

TEST_F(KernelCostTest, PrefersTheChannelBlocksOfTheEngine) {
  EXPECT_EQ(cost()->channel_blocks(), std::vector<int64_t>{16});
}

TEST_F(KernelCostTest, TheDatabaseOutlivesTheModel) {
  const double first = cost()->metrics(parsed(kConvs))->latency_us;
  const int timed = engine_.timed;
  EXPECT_EQ(cost()->metrics(parsed(kConvs))->latency_us, first);
  EXPECT_EQ(engine_.timed, timed);
}

TEST_F(KernelCostTest, TheOverheadIsMeasuredOnceAlsoIfItIsNegative) {
  const TempDir folder = TempDir::make().value();
  engine_.overhead = -1.25;
  for (const char* text : {"input x: f32[4]\n y = Relu(x)\n return y", "input x: f32[4]\n y = Exp(x)\n return y"}) {
    ProfileDb db = ProfileDb::open(folder.path() / "p.db").value();
    EXPECT_EQ(KernelCost::make(engine_, db, {}).value()->metrics(parsed(text))->latency_us, 10 - 1.25);
  }
  EXPECT_EQ(engine_.overheads, 1);
  ProfileDb other = ProfileDb::open("").value();
  const std::vector<std::filesystem::path> paths = {folder.path() / "p.db"};
  EXPECT_TRUE(other.merge(paths).has_value());
}

TEST_F(KernelCostTest, PartsAddUpToTheWhole) {
  // Cut between the kernels, where the value is blocked.
  const char* part =
      "input x: f32[1,16,8,8]\n w = f32[16,16,3,3]{seed 1}\n"
      "a = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}\n b = Relu(a)\n return b";
  const auto model = cost();
  const double whole = model->metrics(parsed(kConvs))->latency_us;
  const Boundary first{.inputs = {Layout::Plain}, .outputs = {Layout::Blocked}};
  const Boundary second{.inputs = {Layout::Blocked}, .outputs = {Layout::Plain}};
  EXPECT_EQ(model->metrics(parsed(part), first)->latency_us + model->metrics(parsed(part), second)->latency_us, whole);
  EXPECT_GT(model->metrics(parsed(part))->latency_us * 2, whole);
}

TEST_F(KernelCostTest, WeightsCostNothing) {
  const Graph graph = parsed(R"(
    input x: f32[2,2]
    w = f32[2,2]{seed 1}
    v = MatMul(w, w)
    r = Relu(v)
    y = Mul(x, r)
    return y)");
  EXPECT_EQ(cost()->metrics(graph)->latency_us, 10.5);
  const Graph constant = parsed("input x: f32[2]\n w = f32[2]{seed 1}\n y = Relu(w)\n return y");
  EXPECT_EQ(cost()->metrics(constant)->latency_us, 0);
}

TEST_F(KernelCostTest, WhatCannotBeMeasuredIsAnErrorThatNamesIt) {
  const auto model = cost();
  const Graph graph = parsed("input x: f32[2]\n y = Erf(x)\n return y");
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto metrics = model->metrics(graph);
    ASSERT_FALSE(metrics.has_value());
    EXPECT_THAT(metrics.error().message, HasSubstr("Erf f32[2]: no Erf here"));
  }
  EXPECT_EQ(engine_.timed, 1) << "not tried again";
}

TEST_F(KernelCostTest, OpaqueNodesAreTheSameEverywhereAndCountAsNothing) {
  const Graph graph = parsed(
      "input x: f32[2]\n y = Opaque(x) {@op_type=\"If\", @domain=\"\", @opset=17}: f32[2]\n z = Exp(y)\n return z");
  EXPECT_EQ(cost()->metrics(graph)->latency_us, 10.5);
}

TEST_F(KernelCostTest, TheFootprintSetsHowFarWeightsAre) {
  ASSERT_TRUE(cost(36 << 20)->metrics(parsed(kConvs)).has_value());
  EXPECT_THAT(engine_.distances(), testing::UnorderedElementsAre(32 << 20, 0, 0));
  ASSERT_TRUE(cost(40 << 20)->metrics(parsed(kConvs)).has_value());
  EXPECT_NEAR(engine_.reads.back().distance, std::exp2(25.5), 1) << "half powers of two";
  ASSERT_TRUE(cost(1e12)->metrics(parsed(kConvs)).has_value());
  EXPECT_EQ(engine_.timed, 5) << "the reorders have no weights";
  EXPECT_EQ(engine_.reads.back().distance, 128 << 20);
  EXPECT_EQ(footprint(parsed(kConvs), {}), 2 * 2304 * 4 + 3 * 4096) << "what a relu reads is not stored";
}

TEST_F(KernelCostTest, WeightsThatAreReadInARowHaveSignaturesOfTheirOwn) {
  const Graph graph = parsed(R"(
    input x: f32[4,2048]
    w = f32[2048,2048]{fill 1}
    a = MatMul(x, w)
    b = MatMul(a, w)
    c = MatMul(b, w)
    return c)");
  ASSERT_TRUE(cost(64 << 20)->metrics(graph).has_value());
  ASSERT_EQ(engine_.timed, 2) << "the first reader, and the others";
  EXPECT_TRUE(engine_.reads[0].is_first());
  EXPECT_FALSE(engine_.reads[1].is_first());
  EXPECT_EQ(engine_.reads[1].in_a_row, 3);
  ASSERT_TRUE(cost(16 << 20)->metrics(graph).has_value());
  ASSERT_EQ(engine_.timed, 3) << "all of them";
  EXPECT_EQ(engine_.reads[2].in_a_row, 1) << "nothing else is read";
}

TEST_F(KernelCostTest, ScalarsSteerAndWeightsDoNot) {
  const auto model = cost();
  const auto timed = [&](const char* text) {
    engine_.timed = 0;
    EXPECT_TRUE(model->metrics(parsed(text)).has_value());
    return engine_.timed;
  };
  EXPECT_EQ(timed("input x: f32[4,16]\n w = f32[16,16]{seed 1}\n y = MatMul(x, w)\n return y"), 1);
  EXPECT_EQ(timed("input x: f32[4,16]\n w = f32[16,16]{seed 2}\n y = MatMul(x, w)\n return y"), 0);
  EXPECT_EQ(timed("input x: f32[4,16]\n w = f32[16,8]{seed 2}\n y = MatMul(x, w)\n return y"), 1);
  EXPECT_EQ(timed("input x: f32[4]\n c = f32[1]{2}\n y = Pow(x, c)\n return y"), 1);
  EXPECT_EQ(timed("input x: f32[4]\n c = f32[1]{3}\n y = Pow(x, c)\n return y"), 1);
  EXPECT_EQ(timed("input x: f32[N]\n c = f32[1]{3}\n y = Pow(x, c)\n return y"), 1) << "N is 1";
  EXPECT_EQ(timed("input x: f32[1]\n c = f32[1]{3}\n y = Pow(x, c)\n return y"), 0);
}

TEST_F(KernelCostTest, AccountsForTheLatency) {
  const auto model = cost();
  const auto shares = model->account(parsed(kConvs)).value();
  ASSERT_EQ(shares.size(), 3);
  EXPECT_EQ(shares[2].kernel, "Conv+Relu f32[1,16,8,8] f32[16,16,3,3]");
  EXPECT_EQ(shares[2].count, 2);
  EXPECT_EQ(shares[2].us, 41);
}

TEST(KernelCost, KeepsTheCostsOfNeighbors) {
  const TempDir folder = TempDir::make().value();
  const auto slowdown = [](Engine& engine, ProfileDb& db) {
    return KernelCost::make(engine, db, {}).value()->neighbor_costs().map([](const NeighborCosts& costs) {
      return costs.slowdown[1][1];
    });
  };
  CountingEngine engine;
  {
    ProfileDb db = ProfileDb::open(folder.path() / "kernels.db").value();
    EXPECT_EQ(slowdown(engine, db), 1.5);
    EXPECT_EQ(slowdown(engine, db), 1.5);
  }
  ProfileDb locked = ProfileDb::open_locked(folder.path() / "kernels.db").value();
  EXPECT_EQ(slowdown(engine, locked), 1.5);
  EXPECT_EQ(engine.neighbors, 1) << "measured once";
  EXPECT_TRUE(locked.missed().empty());
  {
    ProfileDb kernels = ProfileDb::open(folder.path() / "others.db").value();
    EXPECT_TRUE(KernelCost::make(engine, kernels, {}).value()->metrics(parsed(kConvs)).has_value());
  }
  ProfileDb missing = ProfileDb::open_locked(folder.path() / "others.db").value();
  EXPECT_FALSE(slowdown(engine, missing).has_value());
  EXPECT_FALSE(missing.missed().empty());
  EXPECT_EQ(engine.neighbors, 1);
}

TEST(KernelCost, NeedsAnEngineThatDescribesItsKernels) {
  ProfileDb db = ProfileDb::open("").value();
  const auto engine = make_engine("reference").value();
  const auto made = KernelCost::make(*engine, db, {});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("'reference' does not say how it groups"));
  EXPECT_FALSE(engine->kernel_overhead().has_value());
}

TEST(KernelCost, OnOnnxRuntime) {
  auto engine = make_engine("ort");
  ASSERT_TRUE(engine.has_value()) << engine.error().message;
  ProfileDb db = ProfileDb::open("").value();
  const auto model = KernelCost::make(**engine, db, {}).value();
  const auto metrics = model->metrics(parsed(kConvs));
  ASSERT_TRUE(metrics.has_value()) << metrics.error().message;
  EXPECT_EQ(metrics->kernels, 4);
  // Operands that arrive blocked, with channels that fill blocks and channels that do not; results that must be plain.
  // Large enough for ONNX Runtime to report a time: it counts whole microseconds.
  for (const int channels : {16, 20}) {
    const auto blocked = model->metrics(parsed(
        fmt::format("input x: f32[1,{0},64,64]\n w = f32[{0},{0},1,1]{{seed 1}}\n"
                    "a = Conv(x, w) {{strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}\n b = Relu(a)\n c = Mul(a, b)\n"
                    "d = GlobalAveragePool(c)\n return c, d",
                    channels)));
    ASSERT_TRUE(blocked.has_value()) << blocked.error().message;
    EXPECT_GT(blocked->latency_us, 0);
  }
  // Operands of other types; results whose extents depend on data.
  for (const char* text : {"input x: i64[4]\n t = f32[8,3]{seed 1}\n y = Gather(t, x)\n return y",
                           "input x: bool[4]\n input a: f16[4]\n b = Not(x)\n y = Where(b, a, a)\n return y",
                           "input x: f32[4]\n y = NonZero(x)\n return y"}) {
    const auto one = model->metrics(parsed(text));
    EXPECT_TRUE(one.has_value()) << text << ": " << one.error().message;
  }
}

TEST(KernelCost, FollowsDecisions) {
  const auto engine = make_engine("onednn").value();
  ProfileDb db = ProfileDb::open("").value();
  const auto model = KernelCost::make(*engine, db, {}).value();
  const Graph graph = parsed(kConvs);
  const Metrics undecided = model->metrics(graph).value();
  const size_t measured = model->measured();
  const Node& second = graph.producer_node(graph.operands(graph.producer_node(graph.outputs()[0]))[0]);
  const ValueId between = graph.operands(second)[0];
  const ValueId conv = graph.operands(graph.producer_node(between))[0];
  // How many kernels change layouts depends on the times of convolutions.
  EXPECT_GE(undecided.kernels, 2);
  EXPECT_GE(model->metrics({graph, {.algorithms = {{conv, Algorithm::Direct}}}}).value().kernels, 2);
  EXPECT_GT(model->measured(), measured) << "it is a kernel of its own";
  const Decisions plain{.layouts = {{between, Layout::Plain}}};
  EXPECT_EQ(engine->planner()->plan(graph)->layouts[between], Layout::Blocked);
  EXPECT_EQ(engine->planner()->plan(graph, {}, plain)->layouts[between], Layout::Plain);
  const size_t before = model->measured();
  const auto decided = model->metrics({graph, plain});
  ASSERT_TRUE(decided.has_value()) << decided.error().message;
  EXPECT_GT(model->measured(), before) << "it makes another layout";
}

TEST(KernelCost, ALockedDatabaseGivesAllCostsOrMissesThem) {
  const TempDir folder = TempDir::make().value();
  const auto file = folder.path() / "p.db";
  CountingEngine engine;
  const Metrics measured = [&] {
    ProfileDb db = ProfileDb::open(file).value();
    return KernelCost::make(engine, db, {}).value()->metrics(parsed(kConvs)).value();
  }();
  const int timed = engine.timed;
  ProfileDb db = ProfileDb::open_locked(file).value();
  const auto costs = KernelCost::make(engine, db, {}).value();
  EXPECT_EQ(costs->metrics(parsed(kConvs)).value().latency_us, measured.latency_us);
  EXPECT_TRUE(db.missed().empty());
  EXPECT_THAT(costs->metrics(parsed("input x: f32[4]\n y = Exp(x)\n return y")).error().message,
              HasSubstr("not in the profile database"));
  EXPECT_EQ(db.missed(), (std::set<std::string>{"Exp f32[4]"}));
  EXPECT_EQ(engine.timed, timed) << "nothing is measured";
}

TEST(KernelCost, ALockedDatabaseKnowsWhatCannotBeMeasured) {
  const TempDir folder = TempDir::make().value();
  const auto file = folder.path() / "p.db";
  const Graph erf = parsed("input x: f32[2]\n y = Erf(x)\n return y");
  CountingEngine engine;
  {
    ProfileDb db = ProfileDb::open(file).value();
    EXPECT_FALSE(KernelCost::make(engine, db, {}).value()->metrics(erf).has_value());
  }
  {
    ProfileDb db = ProfileDb::open_locked(file).value();
    const auto locked = KernelCost::make(engine, db, {}).value()->metrics(erf);
    ASSERT_FALSE(locked.has_value());
    EXPECT_THAT(locked.error().message, HasSubstr("Erf f32[2]: no Erf here"));
    EXPECT_TRUE(db.missed().empty());
  }
  EXPECT_EQ(engine.timed, 1);
  ProfileDb db = ProfileDb::open(file).value();
  EXPECT_FALSE(KernelCost::make(engine, db, {}).value()->metrics(erf).has_value());
  EXPECT_EQ(engine.timed, 2) << "where costs are not locked, it is tried again";
}

TEST(KernelCost, MeasuresNothingAfterTheDeadline) {
  const Graph graph = parsed(kConvs);
  CountingEngine engine;
  ProfileDb db = ProfileDb::open({}).value();
  const auto costs = KernelCost::make(engine, db, {}).value();
  // The first kernel is measured, then the time is up.
  costs->measure_until(Deadline::after(1e6, [&] { return engine.timed > 0; }));
  EXPECT_THAT(costs->metrics(graph).error().message, HasSubstr("no time is left"));
  EXPECT_EQ(engine.timed, 1);
  EXPECT_TRUE(db.load({engine.name(), engine.version(), engine.device(), 1}).value().size() > 1)
      << "what was measured is kept";
  costs->measure_until(Deadline::never());
  EXPECT_TRUE(costs->metrics(graph).has_value()) << "later, there is time";
}

}  // namespace
}  // namespace isomer
