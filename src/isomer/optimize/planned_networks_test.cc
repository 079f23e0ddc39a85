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
#include "isomer/engine/onednn/tuner.h"
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
  return graph.is_constant_derived(value) ? "" : graph.name(value);
}

/// Instead of measuring, makes up a time for each key, or fails.
class AnyTimes : public onednn::Tuner {
 public:
  explicit AnyTimes(uint64_t seed) : Tuner(true), seed_(seed) {}

 private:
  std::vector<double> measure(std::span<const onednn::Contender> contenders) override {
    std::vector<double> us;
    for (const onednn::Contender& contender : contenders) {
      const uint64_t number = hash_mix(seed_, hash_text(contender.key)) % 1000;
      us.push_back(number < 50 ? std::numeric_limits<double>::infinity() : static_cast<double>(number));
    }
    return us;
  }

  const uint64_t seed_;
};

Launches predicted(const Graph& graph, const Decisions& decisions = {},
                   const std::shared_ptr<onednn::Tuner>& tuner = nullptr) {
  const KernelPlan plan = OnednnPlanner(onednn::native_block(), tuner).plan(graph, {}, decisions).value();
  Launches launches;
  for (size_t i = 0; i < plan.size(); ++i) {
    const Node& last = graph.node(plan.kernel(i).back());
    if (last.op->has(Trait::View))  // of a value that is not contiguous
      ++launches.reorders[name_of(graph, graph.operands(last)[0])];
    else
      ++launches.kernels[graph.name(last.result())];
  }
  for (const auto& reorder : plan.reorders) ++launches.reorders[name_of(graph, reorder.value)];
  return launches;
}

Launches planned(const Graph& graph, const Decisions& decisions = {},
                 const std::shared_ptr<onednn::Tuner>& tuner = nullptr) {
  std::vector<TensorType> types;
  for (const ValueId input : graph.inputs()) types.push_back(graph.type(input));
  const auto plan = onednn::Plan::make(graph, types, {.tune = false, .decisions = decisions}, tuner);
  Launches launches;
  for (const onednn::PlanKernel& kernel : plan.value().kernels())
    if (kernel.implementation != "memcpy")
      ++(kernel.name == "reorder" ? launches.reorders : launches.kernels)[kernel.value];
  return launches;
}

/// With a tuner that measures nothing, and with two that choose differently.
void expect_as_predicted(const Graph& given, const std::string& what) {
  const Graph graph = named(given);
  for (const uint64_t seed : {0, 1, 2}) {
    const auto tuner = seed == 0 ? nullptr : std::make_shared<AnyTimes>(seed);
    const Launches expected = planned(graph, {}, tuner);
    const Launches got = predicted(graph, {}, tuner);
    EXPECT_EQ(got.kernels, expected.kernels) << what << ", seed " << seed;
    EXPECT_EQ(got.reorders, expected.reorders) << what << ", seed " << seed;
  }
}
void expect_as_predicted(const std::string& text) {
  const auto graph = parse_graph(text, find_op);
  ASSERT_TRUE(graph.has_value()) << graph.error().message << " in " << text;
  expect_as_predicted(*graph, text);
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
    expect_as_predicted(build_model(entry.name).value(), entry.name);
  }
}

TEST(PlannedNetworks, LayersThatFollowTheLayoutOfTheirOperands) {
  for (const auto& [images, channels] : {std::pair(1, 32), {2, 32}, {1, 20}}) {
    expect_as_predicted(fmt::format(R"(
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
                                    images, channels));
  }
}

// They are views, unless elements are picked from blocks; they keep blocks if they keep the extents of one image.
TEST(PlannedNetworks, PoolsOfSingleElements) {
  for (const int images : {1, 2})
    for (const char* strides : {"1,1", "2,2", "1,3"})
      expect_as_predicted(fmt::format(R"(
        input x: f32[{0},32,9,8]
        w = f32[32,32,3,3]{{seed 1}}
        a = Conv(x, w) {{pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}}
        p = AveragePool(a) {{kernel_shape=[1,1], strides=[{1}], dilations=[1,1], pads=[0,0,0,0]}}
        b = Conv(p, w) {{pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}}
        return b)",
                                      images, strides));
}

TEST(PlannedNetworks, FunctionsAndSumsOfPaddedBlocks) {
  if (onednn::native_block() != 8) GTEST_SKIP() << "20 channels are not in blocks on this processor";
  expect_as_predicted(R"(
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
      return p, l, n, q, j, k)");
}

// The reshaping needs the elements in one piece, wherever the pool before has left them.
TEST(PlannedNetworks, ReshapedPoolsOfSingleElements) {
  for (const char* reshape : {"Flatten(p)", "Reshape(p) {shape=[32,-1]}", "Unsqueeze(p) {axes=[0]}"})
    expect_as_predicted(fmt::format(R"(
      input x: f32[1,32,9,8]
      w = f32[32,32,3,3]{{seed 1}}
      a = Conv(x, w) {{pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}}
      p = AveragePool(a) {{kernel_shape=[1,1], strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}
      f = {}
      b = Exp(f)
      return b)",
                                    reshape));
}

constexpr const char* kPerms[] = {"0,1,2,3", "0,2,1,3", "0,1,3,2", "0,3,1,2", "0,2,3,1",
                                  "3,0,1,2", "2,1,3,0", "2,3,0,1", "1,0,2,3"};

TEST(PlannedNetworks, ProductsOfStridedFactors) {
  for (const char* perm : kPerms)
    for (const char* part : {"axes=[3], starts=[0], ends=[4], steps=[1]", "axes=[3], starts=[0], ends=[8], steps=[2]",
                             "axes=[1], starts=[1], ends=[3], steps=[1]", "axes=[2], starts=[0], ends=[1], steps=[1]"})
      expect_as_predicted(fmt::format(R"(
        input x: f32[8,8,8,8]
        input y: f32[8,8,8,8]
        w = f32[8,8]{{seed 1}}
        v = f32[2,1,8,8]{{seed 2}}
        a = Relu(x)
        b = Tanh(y)
        t = Transpose(a) {{perm=[{}]}}
        s = Slice(t) {{{}}}
        u = Transpose(s) {{perm=[0,1,3,2]}}
        c, d = Split(t) {{axis=0, split=[2,6]}}
        m = MatMul(s, u)
        n = MatMul(t, b)
        o = MatMul(b, t)
        p = MatMul(t, w)
        q = MatMul(w, t)
        r = MatMul(c, v)
        return m, n, o, p, q, r)",
                                      perm, part));
}

TEST(PlannedNetworks, ProductsBeforeATransposition) {
  for (const char* perm : kPerms)
    for (const char* type : {"f32[3,4,5,6]", "f32[1,4,5,6]", "f32[3,4,1,6]", "f32[3,1,5,6]"})
      for (const char* more : {"", "o = MatMul(b, a)", "o = Reshape(m) {shape=[-1]}"})
        expect_as_predicted(fmt::format(R"(
          input x: {0}
          input y: {0}
          w = f32[6,7]{{seed 1}}
          k = f32[7]{{seed 2}}
          a = Abs(x)
          b0 = Tanh(y)
          b = Transpose(b0) {{perm=[0,1,3,2]}}
          m0 = MatMul(a, b)
          m = Relu(m0)
          t = Transpose(m) {{perm=[{1}]}}
          r = Reshape(t) {{shape=[-1]}}
          n0 = MatMul(b0, w)
          n = Add(n0, k)
          u = Transpose(n) {{perm=[{1}]}}
          c = Exp(r)
          {2}
          return c, u{3})",
                                        type, perm, more, *more == 0 ? "" : ", o"));
}

/// Compares graphs that apply a node to a value in each layout: row-major, as a convolution makes it, transposed, and
/// cut. `node` is written with {v} for the value and {c} for the number of channels, and so are the lines before it.
void expect_as_predicted_in_each_layout(const std::string& node, const std::string& weights = "",
                                        const std::string& before = "") {
  for (const int64_t images : {1, 2})
    for (const int64_t channels : {32, 20})
      for (const char* v : {"p", "c", "t", "u", "l", "m"}) {
        const auto filled = [&, v = v](const std::string& text) {
          return fmt::format(fmt::runtime(text), fmt::arg("v", v), fmt::arg("c", channels));
        };
        expect_as_predicted(fmt::format(R"(
          input x: f32[{0},{1},6,8]
          input xt: f32[{0},6,8,{1}]
          input xu: f32[{0},6,{1},8]
          input xl: f32[{0},{2},6,8]
          input xm: f32[{0},{1},6,9]
          k = f32[{1},{1},1,1]{{seed 1}}
          {3}
          p = Relu(x)
          c = Conv(x, k) {{pads=[0,0,0,0], strides=[1,1], dilations=[1,1]}}
          t = Transpose(xt) {{perm=[0,3,1,2]}}
          u = Transpose(xu) {{perm=[0,2,1,3]}}
          l = Slice(xl) {{axes=[1], starts=[0], ends=[{1}], steps=[1]}}
          m = Slice(xm) {{axes=[3], starts=[1], ends=[9], steps=[1]}}
          q = f32[{0},{1},6,8]{{seed 9}}
          {4}
          y = {5}
          z = Reshape(y) {{shape=[-1]}}
          return y, z)",
                                        images, channels, 2 * channels, filled(weights), filled(before), filled(node)));
      }
}

TEST(PlannedNetworks, SoftmaxOverEachAxis) {
  for (const char* name : {"Softmax", "LogSoftmax"})
    for (int axis = 0; axis < 4; ++axis)
      expect_as_predicted_in_each_layout(fmt::format("{}({{v}}) {{{{axis={}}}}}", name, axis));
  for (const char* extents : {"5", "3,5", "2,1,5", "2,3,1", "2,1,1,7", "2,3,4,5,6"})
    for (const int axis : {0, -1, -2})
      if (axis > -2 || std::string_view(extents).size() > 1)
        expect_as_predicted(
            fmt::format("input x: f32[{}]\ny = Softmax(x) {{axis={}}}\nz = Tanh(y)\nreturn z", extents, axis));
}

TEST(PlannedNetworks, ReductionsOverAnyAxes) {
  for (const char* name : {"ReduceMean", "ReduceMax", "ReduceL2"})
    for (const char* axes : {"0", "1", "2", "3", "2,3", "1,2", "0,1", "0,2", "1,3", "1,2,3", "0,2,3", "0,1,2,3"})
      for (const int keep : {0, 1})
        expect_as_predicted_in_each_layout(fmt::format("{}({{v}}) {{{{axes=[{}], keepdims={}}}}}", name, axes, keep));
}

TEST(PlannedNetworks, Loops) {
  const std::string numbers = "input n: f32[{c},1,1]\ninput r: f32[6,1]";
  for (const char* before : {"e = Exp({v})", "e = Sub(n, {v})", "e = Add({v}, c)",
                             "f = Greater({v}, r)\ne = Where(f, {v}, n)", "e0 = Mul({v}, u)\ne = Sub(e0, {v})"}) {
    expect_as_predicted_in_each_layout("Mul(e, n)", numbers, before);
    expect_as_predicted_in_each_layout("Sub(c, e)", numbers, before);
    for (const char* axes : {"0,2,3", "2,3", "1", "3", "0,1,2,3"})
      expect_as_predicted_in_each_layout(fmt::format("ReduceSum(e) {{{{axes=[{}]}}}}", axes), numbers, before);
  }
  expect_as_predicted_in_each_layout("Sub(n, {v})", numbers);
  expect_as_predicted_in_each_layout("Where(f, {v}, n)", numbers, "f = Less({v}, c)");
}

TEST(PlannedNetworks, Normalizations) {
  expect_as_predicted_in_each_layout("BatchNormalization({v}, g, g, g, g) {{epsilon=1.0}}", "g = f32[{c}]{{seed 2}}");
  expect_as_predicted_in_each_layout("InstanceNormalization({v}, g, b)",
                                     "g = f32[{c}]{{seed 2}}\nb = f32[{c}]{{seed 3}}");
  expect_as_predicted_in_each_layout("LayerNormalization({v}, g, b) {{axis=-1}}",
                                     "g = f32[8]{{seed 2}}\nb = f32[8]{{seed 3}}");
  expect_as_predicted_in_each_layout("LayerNormalization({v}, g) {{axis=2}}", "g = f32[6,8]{{seed 2}}");
  for (const char* extents : {"1,32,9", "2,32,9", "1,32,4,5,6"}) {
    const std::string_view text(extents);
    const auto axes = static_cast<size_t>(std::ranges::count(text, ',')) - 1;
    expect_as_predicted(fmt::format(R"(
      input x: f32[{}]
      w = f32[32,32{}]{{seed 1}}
      g = f32[32]{{seed 2}}
      a = Conv(x, w) {{pads=[{}], strides=[{}], dilations=[{}]}}
      b = InstanceNormalization(a, g, g)
      c = Relu(b)
      return c)",
                                    extents, axes == 1 ? ",1" : ",1,1,1", axes == 1 ? "0,0" : "0,0,0,0,0,0",
                                    axes == 1 ? "1" : "1,1,1", axes == 1 ? "1" : "1,1,1"));
  }
}

TEST(PlannedNetworks, ConvolutionsOfViews) {
  expect_as_predicted_in_each_layout("Conv({v}, k) {{pads=[0,0,0,0], strides=[1,1], dilations=[1,1]}}");
}

TEST(PlannedNetworks, ConcatenationsOfConcatenations) {
  for (int axis = 0; axis < 4; ++axis)
    for (const char* parts : {"{v}, {v}", "c, {v}", "{v}, c", "p, {v}", "{v}, p", "{v}, u", "l, {v}", "{v}, q"})
      for (int outer = 0; outer < 4; ++outer)
        expect_as_predicted_in_each_layout(fmt::format("Concat(j, j) {{{{axis={}}}}}", outer), "",
                                           fmt::format("j = Concat({}) {{{{axis={}}}}}", parts, axis));
}

TEST(PlannedNetworks, ConcatenationsOfOneOperand) {
  for (const char* const parts : {"p, p", "p", "p, r", "p, x"})
    expect_as_predicted(fmt::format(R"(
      input x: f32[1,16,14,14]
      w = f32[16,16,1,1]{{seed 1}}
      c = Conv(x, w) {{strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}
      r = Relu(c)
      p = Concat(r) {{axis=1}}
      s = Concat({}) {{axis=1}}
      t = Concat(s) {{axis=0}}
      y = MaxPool(t) {{kernel_shape=[2,2], strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}
      return y
    )",
                                    parts));
  expect_as_predicted(R"(
    input x: f32[1,16]
    input y: f32[1,8]
    r = Exp(x)
    p = Concat(r) {axis=1}
    a = Concat(p, y) {axis=1}
    z = Tanh(y)
    b = Concat(r, y, z) {axis=1}
    c = Sin(a)
    d = Sin(b)
    return c, d
  )");
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

TEST(PlannedNetworks, DependOnTimes) {
  if (onednn::native_block() == 8) GTEST_SKIP() << "oneDNN has only one way for these convolutions on this processor";
  const Graph graph = named(build_model("resnet18").value());
  const auto first = planned(graph, {}, std::make_shared<AnyTimes>(1)).reorders;
  EXPECT_NE(first, planned(graph).reorders);
  EXPECT_NE(first, planned(graph, {}, std::make_shared<AnyTimes>(2)).reorders);
}

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
      const auto tuner = seed == 1 ? nullptr : std::make_shared<AnyTimes>(seed);
      const Launches expected = planned(graph, decisions, tuner);
      EXPECT_NE(expected.reorders, planned(graph, {}, tuner).reorders) << network << ": nothing is obeyed";
      const Launches got = predicted(graph, decisions, tuner);
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
        live_bytes(graph, OnednnPlanner(onednn::native_block()).plan(graph).value(), bytes_of_values(graph, {}), false);
    EXPECT_NEAR(predicted, planned, 0.1 * planned + static_cast<double>(memory.scratch)) << network;
  }
}

}  // namespace
}  // namespace isomer
