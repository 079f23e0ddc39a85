// Plans obey decisions, and their outputs stay the same.

#include <gmock/gmock.h>

#include <cmath>

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"
#include "isomer/engine/onednn/conv_ways.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDecidedLayers = R"(
  input x: f32[1,32,12,12]
  w = f32[32,32,3,3]{seed 1}
  v = f32[32,32,1,1]{seed 2}
  s = f32[32]{seed 3}
  t = f32[32]{seed 4}
  u = Abs(t)
  a = Conv(x, w) {pads=[1,1,1,1]}
  b = BatchNormalization(a, s, s, s, u) {epsilon=1.0}
  c = Relu(b)
  d = Conv(c, v)
  e = Add(d, c)
  f = GlobalAveragePool(e)
  return f, e)";

/// The value that the n-th node of an operator makes.
ValueId result_of(const Graph& graph, const std::string& op, int n = 0) {
  for (const Node& node : graph.nodes())
    if (node.op->name == op && n-- == 0) return node.result();
  throw std::runtime_error("no " + op);
}

std::vector<PlanKernel> kernels_with(const Graph& graph, const Decisions& decisions, bool tune = false) {
  return expect_as_reference(graph, inputs_of(graph), {.tune = tune, .decisions = decisions});
}

/// The layouts of the result of the kernel that ends with an operator: where it is made, and after changes of layout.
std::vector<std::string> layouts_after(const std::vector<PlanKernel>& kernels, const std::string& op) {
  std::vector<std::string> layouts;
  for (const PlanKernel& kernel : kernels)
    if (kernel.name.ends_with(op) || (!layouts.empty() && kernel.name == "reorder"))
      layouts.push_back(kernel.layout);
    else if (!layouts.empty())
      break;
  return layouts;
}

TEST(DecidedPlan, HasTheDecidedLayouts) {
  const Graph graph = graph_of(kDecidedLayers);
  const std::string blocks = layout_str(channel_blocked_desc({1, 32, 12, 12}, native_block()));
  EXPECT_THAT(layouts_after(kernels_with(graph, {}), "Relu"), Not(Contains("plain")));
  for (const char* op : {"Relu", "Add"}) {
    for (const Layout layout : {Layout::Plain, Layout::Blocked}) {
      const auto kernels = kernels_with(graph, {.layouts = {{result_of(graph, op), layout}}});
      EXPECT_THAT(layouts_after(kernels, op), Contains(layout == Layout::Plain ? "plain" : blocks)) << op;
    }
  }
}

TEST(DecidedPlan, HasTheDecidedAlgorithms) {
  const Graph graph = graph_of(kDecidedLayers);
  const ValueId conv = result_of(graph, "Conv");
  const auto first = [](const std::vector<PlanKernel>& kernels) {
    const auto found = std::ranges::find_if(kernels, [](const PlanKernel& k) { return k.name.starts_with("Conv"); });
    return found == kernels.end() ? "" : found->implementation;
  };
  EXPECT_THAT(first(kernels_with(graph, {.algorithms = {{conv, Algorithm::Direct}}}, true)), Not(HasSubstr("wino")));
  EXPECT_THAT(first(kernels_with(graph, {.algorithms = {{conv, Algorithm::Winograd}}})), HasSubstr("wino"));
}

TEST(DecidedPlan, PoolsOfSingleElementsReadBlocks) {
  const std::string blocks = layout_str(channel_blocked_desc({2, 32, 6, 6}, native_block()));
  for (const char* pool : {"AveragePool", "MaxPool"}) {
    const Graph graph = graph_of(fmt::format(R"(
      input x: f32[2,32,12,11]
      w = f32[32,32,1,1]{{seed 1}}
      a = Conv(x, w)
      p = {}(a) {{kernel_shape=[1,1], strides=[2,2]}}
      y = Conv(p, w)
      return y)",
                                             pool));
    const auto kernels = kernels_with(graph, {.layouts = {{result_of(graph, "Conv"), Layout::Blocked}}});
    EXPECT_THAT(layouts_after(kernels, pool), testing::ElementsAre(blocks));
  }
}

TEST(DecidedPlan, PoolsOfSingleElementsKeepEveryNumber) {
  for (const char* pool : {"AveragePool", "MaxPool"})
    for (const int batch : {1, 2}) {
      const Graph graph = graph_of(
          fmt::format("input x: f32[{},32,5,7]\nn = Neg(x)\np = {}(n) {{kernel_shape=[1,1], strides=[2,3]}}\nreturn p",
                      batch, pool));
      std::vector<float> numbers;
      for (int i = 0; i < batch * 32 * 5 * 7; ++i) numbers.push_back(i % 3 == 0 ? INFINITY : i % 3 == 1 ? NAN : 0.5F);
      const std::vector<Tensor> inputs = {Tensor::floats({batch, 32, 5, 7}, numbers)};
      const auto expected = run_reference(graph, inputs);
      const Decisions blocked{.layouts = {{result_of(graph, "Neg"), Layout::Blocked}}};
      const auto plan = Plan::make(graph, types_of(inputs), {.decisions = blocked}, nullptr);
      ASSERT_TRUE(plan.has_value()) << plan.error().message;
      const auto got = plan->run(inputs);
      const auto wanted = (*expected)[0].data<float>(), result = (*got)[0].data<float>();
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(std::isnan(wanted[i]) ? std::isnan(result[i]) : result[i] == wanted[i]) << pool << " at " << i;
    }
}

/// A chain whose values are read again in the opposite order, as by gradients.
constexpr const char* kThereAndBack = R"(
  input x: f32[1,32,24,24]
  w = f32[32,32,3,3]{seed 1}
  a = Conv(x, w) {pads=[1,1,1,1]}
  b = Sigmoid(a)
  c = Conv(b, w) {pads=[1,1,1,1]}
  d = Sigmoid(c)
  e = Conv(d, w) {pads=[1,1,1,1]}
  f = Sigmoid(e)
  g = Mul(f, e)
  h = Conv(g, w) {pads=[1,1,1,1]}
  i = Mul(h, d)
  j = Conv(i, w) {pads=[1,1,1,1]}
  k = Mul(j, b)
  l = ReduceSum(k) {axes=[2,3], keepdims=0}
  return l)";

TEST(DecidedPlan, ComputesValuesTwice) {
  const Graph graph = graph_of(kThereAndBack);
  const auto named = [&](const char* name) {
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (graph.name(value) == name) return value;
    throw std::runtime_error("no value");
  };
  const auto plan = [&](const Decisions& decisions) {
    return Plan::make(graph, {{graph.type(graph.inputs()[0])}}, {.tune = false, .decisions = decisions}).value();
  };
  const auto convolutions = [&](const Decisions& decisions) {
    return std::ranges::count_if(kernels_with(graph, decisions),
                                 [](const PlanKernel& kernel) { return kernel.name.starts_with("Conv"); });
  };
  EXPECT_EQ(convolutions({}), 5);
  const Decisions one{.computations = {{named("b"), Computation::Twice}, {named("a"), Computation::Twice}}};
  EXPECT_EQ(convolutions(one), 6);
  EXPECT_LT(plan(one).memory().arena, plan({}).memory().arena);
  Decisions both = one;
  for (const char* name : {"c", "d"}) both.computations.emplace(named(name), Computation::Twice);
  EXPECT_EQ(convolutions(both), 7) << "the second c is made from the second b";
  const Decisions none{.computations = {{named("x"), Computation::Twice},
                                        {named("w"), Computation::Twice},
                                        {named("l"), Computation::Twice},
                                        {named("b"), Computation::Once}}};
  EXPECT_EQ(convolutions(none), 5);
}

TEST(DecidedPlan, ComputingTwiceChangesNoResult) {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    std::string text = "input v0: f32[2,16,6,6]\nw = f32[16,16,1,1]{seed 1}\nu = f32[2,16,6,6]{seed 2}\n";
    constexpr uint64_t kNodes = 14;
    for (uint64_t i = 1; i <= kNodes; ++i) {
      const auto before = [&] { return rng.below(8) == 0 ? std::string("u") : fmt::format("v{}", rng.below(i)); };
      const char* const forms[] = {
          "Conv({0}, w)", "Sigmoid({0})", "Add({0}, {1})", "Mul({0}, {1})", "Transpose({0}) {{perm=[0,1,3,2]}}",
          "Relu({0})"};
      text += fmt::format("v{} = {}\n", i, fmt::format(fmt::runtime(forms[rng.below(6)]), before(), before()));
    }
    const Graph graph = graph_of(text + fmt::format("return v{}, v{}", kNodes, kNodes - 1));
    Decisions decisions;
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (rng.below(2) == 0) decisions.computations.emplace(value, Computation::Twice);
    SCOPED_TRACE(text);
    kernels_with(graph, decisions);
  }
}

TEST(DecidedPlan, WinogradAddsAValueThatIsReadLater) {
  const Graph graph = graph_of(R"(
    input x: f32[1,32,12,12]
    w = f32[32,32,3,3]{seed 1}
    a = Relu(x)
    b = Conv(a, w) {pads=[1,1,1,1]}
    c = Add(b, a)
    d = Sigmoid(a)
    return c, d)");
  const ValueId conv = result_of(graph, "Conv");
  const auto kernels = kernels_with(graph, {.algorithms = {{conv, Algorithm::Winograd}}});
  EXPECT_THAT(kernels, Contains(Field(&PlanKernel::implementation, HasSubstr("wino"))));
}

TEST(DecidedPlan, WinogradTransformsWeightsThatAreNotConstant) {
  const Graph graph = graph_of(R"(
    input x: f32[1,32,6,6]
    input w: f32[48,32,3,3]
    b = Conv(x, w) {pads=[1,1,1,1]}
    return b)");
  const auto direct = kernels_with(graph, {.algorithms = {{result_of(graph, "Conv"), Algorithm::Direct}}}, true);
  EXPECT_EQ(count_of(direct, "transform weights"), 0);
  const auto kernels = kernels_with(graph, {.algorithms = {{result_of(graph, "Conv"), Algorithm::Winograd}}});
  EXPECT_THAT(kernels, Contains(Field(&PlanKernel::implementation, HasSubstr("wino"))));
  EXPECT_EQ(count_of(kernels, "transform weights"), 1);
}

TEST(DecidedPlan, GradientsForFiltersHaveTheDecidedAlgorithm) {
  const Graph graph = graph_of(R"(
    input x: f32[2,32,6,6]
    input g: f32[2,48,6,6]
    a = Transpose(x) {perm=[1,0,2,3]}
    b = Transpose(g) {perm=[1,0,2,3]}
    f = Conv(a, b) {pads=[1,1,1,1]}
    y = Transpose(f) {perm=[1,0,2,3]}
    return y)");
  for (const auto algorithm : {Algorithm::Direct, Algorithm::Winograd})
    for (const bool tune : {false, true}) {
      const auto kernels = kernels_with(graph, {.algorithms = {{result_of(graph, "Conv"), algorithm}}}, tune);
      const auto filters = std::ranges::find(kernels, "filters of Conv", &PlanKernel::name);
      ASSERT_NE(filters, kernels.end());
      EXPECT_EQ(filters->implementation.ends_with(":winograd"), algorithm == Algorithm::Winograd);
    }
}

/// Values that have several readers, that are views, parts of concatenations, or overwritten.
constexpr const char* kTangles[] = {kDecidedLayers, R"(
  input x: f32[1,32,8,8]
  w = f32[32,32,1,1]{seed 1}
  a = Conv(x, w)
  b = Relu(a)
  c = Conv(b, w)
  d = Concat(b, c) {axis=1}
  e = Concat(d, a) {axis=1}
  f = Slice(e) {axes=[1], starts=[16], ends=[80], steps=[1]}
  g = Relu(f)
  h = Sigmoid(d)
  return g, h, e)",
                                    R"(
  input x: f32[2,32,8,8]
  w = f32[32,32,3,3]{seed 1}
  a = Conv(x, w) {pads=[1,1,1,1]}
  b = Add(a, x)
  c = Conv(b, w) {pads=[1,1,1,1]}
  d = Add(c, b)
  e = Relu(d)
  f = Add(e, b)
  g, h = Split(f) {axis=1, split=[16,16]}
  i = Transpose(g) {perm=[0,2,3,1]}
  j = Reshape(h) {shape=[2,1024]}
  k = MaxPool(f) {kernel_shape=[2,2], strides=[2,2]}
  l = Mul(h, h)
  m = Identity(e)
  n = Sub(m, x)
  return i, j, k, l, n)"};

TEST(DecidedPlan, AnyDecisionsKeepTheOutputs) {
  for (const char* text : kTangles) {
    const Graph graph = graph_of(text);
    for (uint64_t seed = 0; seed < 40; ++seed) {
      Decisions decisions;
      for (ValueId value = 0; value < graph.num_values(); ++value) {
        const uint64_t random = hash_mix(seed, value) >> 32;
        if (random % 3 > 0) decisions.layouts[value] = random % 3 == 1 ? Layout::Plain : Layout::Blocked;
        if (random % 5 > 2) decisions.algorithms[value] = random % 5 == 3 ? Algorithm::Direct : Algorithm::Winograd;
      }
      kernels_with(graph, decisions);
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
  }
}

TEST(DecidedPlan, IgnoresWhatItCannotObey) {
  const Graph graph = graph_of("input x: f32[1,3,4,4]\ninput i: i64[2]\nc = Relu(x)\ng = Neg(i)\nreturn c, g");
  Decisions decisions;
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    decisions.layouts[value] = Layout::Blocked;
    decisions.algorithms[value] = Algorithm::Winograd;
  }
  EXPECT_EQ(count_of(kernels_with(graph, decisions), "reorder"), 0);
}

}  // namespace
}  // namespace isomer::onednn
