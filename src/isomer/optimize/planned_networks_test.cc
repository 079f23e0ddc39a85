// Compares the predictions of the built-in runtime's planner with compiled plans.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "isomer/base/hash.h"
#include "isomer/cost/concrete_types.h"
#include "isomer/cost/live_memory.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/plan.h"
#include "isomer/engine/onednn/planner.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/text.h"
#include "isomer/models/models.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Returns the graph with a name for each value: the operator and a number.
Graph named(const Graph& graph) {
  GraphBuilder builder;
  std::vector<ValueId> copies(graph.num_values(), kNoValue);
  for (const Node& node : graph.nodes()) {
    std::vector<ValueId> operands;
    for (const ValueId operand : graph.operands(node))
      operands.push_back(operand == kNoValue ? operand : copies[operand]);
    const NodeId id = node.is_input()      ? builder.peek().producer(builder.input(graph.type(node.result())))
                      : node.is_constant() ? builder.peek().producer(builder.constant(node.attrs.tensor("value")))
                                           : builder.node(*node.op, node.attrs, operands, node.num_results).value();
    for (uint32_t i = 0; i < node.num_results; ++i) {
      copies[node.result(i)] = builder.at(id).result(i);
      builder.name(copies[node.result(i)], fmt::format("{}_{}", node.op->name, node.result(i)));
    }
  }
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(copies[output]);
  return builder.finish(outputs);
}

/// Counts how often each value is made by a kernel, and how often it is reordered.
struct Launches {
  std::map<std::string, int> kernels, reorders;
};

/// Inputs and constants have no names in plans.
std::string name_of(const Graph& graph, ValueId value) {
  return graph.is_weight(value) || graph.producer_node(value).is_input() ? "" : graph.name(value);
}

Launches predicted(const Graph& graph, const Decisions& decisions = {}) {
  const KernelPlan plan = OnednnPlanner(onednn::native_block()).plan(graph, {}, decisions);
  Launches launches;
  for (size_t i = 0; i < plan.size(); ++i) {
    const Node& last = graph.node(plan.kernel(i).back());
    if (last.op->name == "Reshape")  // of a value that is not contiguous
      ++launches.reorders[name_of(graph, graph.operands(last)[0])];
    else
      ++launches.kernels[graph.name(last.result())];
  }
  for (const auto& reorder : plan.reorders) ++launches.reorders[name_of(graph, reorder.value)];
  return launches;
}

Launches planned(const Graph& graph, const Decisions& decisions = {}) {
  std::vector<TensorType> types;
  for (const ValueId input : graph.inputs()) types.push_back(graph.type(input));
  const auto plan = onednn::Plan::make(graph, types, {.tune = false, .decisions = decisions});
  Launches launches;
  for (const onednn::PlanKernel& kernel : plan.value().kernels())
    if (kernel.implementation != "memcpy")
      ++(kernel.name == "reorder" ? launches.reorders : launches.kernels)[kernel.value];
  return launches;
}

/// Networks with many weights or nodes.
bool is_large(const std::string& network) {
  static const std::set<std::string> kLarge = {
      "alexnet",         "vgg16",          "vit-b16",       "bert-8",        "bert-base",     "bert-base-128",
      "gpt2-4",          "nasnet-large",   "nasnet-a",      "nasrnn-untied", "nmt-m10",       "resnext50-branches",
      "rnntc-m10",       "sru-m10",        "inception-e-2", "inception-e-3", "inception-e-4", "resnet-blocks-2",
      "resnet-blocks-6", "resnet-blocks-8"};
  return kLarge.contains(network);
}

void expect_predicted(bool large) {
  for (const ModelEntry& entry : all_models()) {
    if (is_large(entry.name) != large) continue;
    const Graph graph = named(build_model(entry.name).value());
    const Launches expected = planned(graph);
    const Launches got = predicted(graph);
    EXPECT_EQ(got.kernels, expected.kernels) << entry.name;
    EXPECT_EQ(got.reorders, expected.reorders) << entry.name;
  }
}

TEST(PlannedNetworks, LayersThatFollowTheLayoutOfTheirOperands) {
  for (const auto& [images, channels] : {std::pair(1, 32), {2, 32}, {1, 20}}) {
    const auto graph = parse_graph(fmt::format(R"(
      input x: f32[{0},{1},9,8]
      w = f32[{1},{1},3,3]{{seed 1}}
      g = f32[{1}]{{seed 2}}
      p = f32[{1},1,1]{{seed 3}}
      q = f32[1]{{seed 4}}
      a = Conv(x, w) {{pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}}
      b = InstanceNormalization(a, g, g)
      c = PRelu(b, p)
      d = Conv(c, w) {{pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}}
      e = PRelu(d, q)
      f = LRN(e) {{size=5}}
      h = Conv(f, w) {{pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}}
      i = Swish(h)
      return i)",
                                               images, channels),
                                   find_op);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const Launches expected = planned(named(*graph));
    const Launches got = predicted(named(*graph));
    EXPECT_EQ(got.kernels, expected.kernels) << images << " of " << channels;
    EXPECT_EQ(got.reorders, expected.reorders) << images << " of " << channels;
  }
}

TEST(PlannedNetworks, FunctionsAndSumsOfPaddedBlocks) {
  if (onednn::native_block() != 8) GTEST_SKIP() << "20 channels are not in blocks on this processor";
  const auto graph = parse_graph(R"(
      input x: f32[1,20,9,8]
      w = f32[20,20,3,3]{seed 1}
      s = f32[1,20,1,1]{seed 2}
      two = f32[]{2}
      a = Conv(x, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
      b = Sigmoid(a)
      c = Mul(a, b)
      d = Conv(c, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
      e = Tanh(d)
      f = Add(e, d)
      g = Conv(f, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
      h = Mul(g, s)
      i = Conv(h, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
      j = Exp(i)
      k = Erf(i)
      l = Mish(i)
      m = Add(i, two)
      n = HardSigmoid(i)
      o = Sub(k, j)
      p = MaxPool(o) {kernel_shape=[2,2], strides=[1,1], dilations=[1,1], pads=[0,0,0,0], ceil_mode=0}
      q = Conv(m, w) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
      return p, l, n, q, j, k)",
                                 find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const Launches expected = planned(named(*graph));
  const Launches got = predicted(named(*graph));
  EXPECT_EQ(got.kernels, expected.kernels);
  EXPECT_EQ(got.reorders, expected.reorders);
}

TEST(PlannedNetworks, ProductsThatAddBeforeAndAfterAFunction) {
  const auto graph = parse_graph(R"(
      input x: f32[1,64]
      input y: f32[1,64]
      input z: f32[1,64]
      w = f32[64,64]{seed 1}
      m = MatMul(x, w)
      a = Add(m, y)
      t = Sigmoid(a)
      u = Add(t, z)
      return u)",
                                 find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const Launches expected = planned(named(*graph));
  EXPECT_EQ(expected.kernels.size(), 1) << "not one kernel";
  EXPECT_EQ(predicted(named(*graph)).kernels, expected.kernels);
}

TEST(PlannedNetworks, HaveTheKernelsAndReordersThatArePredicted) { expect_predicted(false); }

/// Decides layouts of a third of the values and algorithms of another third.
Decisions some_decisions(const Graph& graph, uint64_t seed) {
  Decisions decisions;
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const uint64_t random = hash_mix(seed, value) >> 32;
    if (random % 3 == 0) decisions.layouts[value] = random % 2 == 0 ? Layout::Plain : Layout::Blocked;
    if (random % 3 == 1) decisions.algorithms[value] = random % 2 == 0 ? Algorithm::Direct : Algorithm::Winograd;
  }
  return decisions;
}

TEST(PlannedNetworks, ObeyTheSameDecisions) {
  for (const char* network : {"squeezenet", "resnet18", "densenet121", "mobilenet-v2", "inception-v3"}) {
    const Graph graph = named(build_model(network).value());
    for (const uint64_t seed : {1, 2}) {
      const Decisions decisions = some_decisions(graph, seed);
      const Launches expected = planned(graph, decisions);
      EXPECT_NE(expected.reorders, planned(graph).reorders) << network << ": nothing is obeyed";
      const Launches got = predicted(graph, decisions);
      EXPECT_EQ(got.kernels, expected.kernels) << network;
      EXPECT_EQ(got.reorders, expected.reorders) << network;
    }
  }
}

// The slow suites run it.
TEST(PlannedNetworks, DISABLED_LargeOnes) { expect_predicted(true); }

TEST(PlannedNetworks, TakeAboutTheMemoryThatIsPredicted) {
  for (const char* network : {"squeezenet", "resnet18", "densenet121", "mobilenet-v2", "regnet-y-400mf",
                              "nasnet-mobile", "sru", "nasrnn", "rnntc", "nmt", "gpt2-4"}) {
    const Graph graph = build_model(network).value();
    std::vector<TensorType> types;
    for (const ValueId input : graph.inputs()) types.push_back(graph.type(input));
    const auto plan = onednn::Plan::make(graph, types, {.tune = false});
    const ActivationMemory memory = plan.value().memory();
    // The memory that reference kernels allocate is not predicted, nor is scratch memory.
    const auto planned = static_cast<double>(memory.total() - memory.results);
    const double predicted =
        live_bytes(graph, OnednnPlanner(onednn::native_block()).plan(graph, {}), bytes_of_values(graph, {}), false);
    EXPECT_NEAR(predicted, planned, 0.1 * planned + static_cast<double>(memory.scratch)) << network;
  }
}

}  // namespace
}  // namespace isomer
