#include "isomer/engine/onednn/plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <thread>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/conv_ways.h"
#include "isomer/engine/onednn/testing.h"
#include "isomer/engine/onednn/tuner.h"

namespace isomer::onednn {
namespace {

using testing::HasSubstr;

constexpr const char* kResidual = R"(
  input x: f32[1,32,14,14]
  w = f32[32,32,3,3]{seed 1}
  s = f32[32]{seed 2}
  b = f32[32]{seed 3}
  m = f32[32]{seed 4}
  v0 = f32[32]{seed 5}
  v = Abs(v0)
  x1 = Relu(x)
  c = Conv(x1, w) {pads=[1,1,1,1]}
  n = BatchNormalization(c, s, b, m, v)
  r = Relu(n)
  d = Conv(r, w) {pads=[1,1,1,1]}
  a = Add(d, x1)
  y = Relu(a)
  return y
)";

TEST(Plan, FusesWhatFollowsAConvolution) {
  const auto kernels = expect_as_reference(kResidual);
  EXPECT_EQ(count_of(kernels, "Conv+Relu"), 1);
  EXPECT_EQ(count_of(kernels, "Conv+Add+Relu"), 1);
  EXPECT_EQ(references(kernels), 0);
  // One reorder into the blocked layout, and none back except for the output.
  EXPECT_LE(count_of(kernels, "reorder"), 2);
}

TEST(Plan, ScalesChannelsInTheirBlocks) {
  const auto kernels = expect_as_reference(R"(
    input x: f32[1,32,8,8]
    w = f32[32,32,3,3]{seed 1}
    u = f32[32,32,1,1]{seed 2}
    c = Conv(x, w) {pads=[1,1,1,1]}
    g = GlobalAveragePool(c)
    s = Conv(g, u)
    h = Sigmoid(s)
    y = Mul(c, h)
    r = Relu(y)
    d = Conv(r, w) {pads=[1,1,1,1]}
    return d
  )");
  EXPECT_EQ(count_of(kernels, "Mul+Relu"), 1);
  EXPECT_LE(count_of(kernels, "reorder"), 2);  // of the input and the output
}

TEST(Plan, ReadsWhatAProductAddsAndMustStay) {
  const auto kernels = expect_as_reference(
      "input x: f32[8,16]\nw = f32[16,16]{seed 1}\nm = MatMul(x, w)\na = Add(m, x)\ny = Relu(a)\nreturn y, x");
  EXPECT_EQ(count_of(kernels, "MatMul+Add+Relu"), 1);
  EXPECT_EQ(count_of(kernels, "reorder"), 0);
}

TEST(Plan, SumsInPlaceOnlyWhatNobodyReadsLater) {
  const auto kernels = expect_as_reference(R"(
    input x: f32[1,32,8,8]
    w = f32[32,32,1,1]{seed 1}
    c = Conv(x, w)
    d = Conv(c, w)
    e = Add(d, c)
    f = Mul(c, e)
    return f, e
  )");
  EXPECT_EQ(count_of(kernels, "Conv+Add"), 1);
}

TEST(Plan, ConcatenatesInPlace) {
  const auto kernels = expect_as_reference(R"(
    input x: f32[1,16,8,8]
    w = f32[16,16,3,3]{seed 1}
    a = Conv(x, w) {pads=[1,1,1,1]}
    ra = Relu(a)
    b = Conv(ra, w) {pads=[1,1,1,1]}
    rb = Relu(b)
    ab = Concat(ra, rb) {axis=1}
    u = f32[16,32,1,1]{seed 2}
    c = Conv(ab, u)
    rc = Relu(c)
    abc = Concat(ra, rb, rc) {axis=1}
    s = Sigmoid(abc)
    return s
  )");
  EXPECT_EQ(count_of(kernels, "Concat"), 0);
  EXPECT_LE(count_of(kernels, "reorder"), 2);  // of the input and the output
}

TEST(Plan, ReadsAndWritesTransposedMatricesAsTheyLie) {
  const auto kernels = expect_as_reference(R"(
    input x: f32[24,32]
    wq = f32[32,32]{seed 1}
    wk = f32[32,32]{seed 2}
    wv = f32[32,32]{seed 3}
    q0 = MatMul(x, wq)
    k0 = MatMul(x, wk)
    v0 = MatMul(x, wv)
    q1 = Reshape(q0) {shape=[24,4,8]}
    k1 = Reshape(k0) {shape=[24,4,8]}
    v1 = Reshape(v0) {shape=[24,4,8]}
    q = Transpose(q1) {perm=[1,0,2]}
    k = Transpose(k1) {perm=[1,2,0]}
    v = Transpose(v1) {perm=[1,0,2]}
    s = MatMul(q, k)
    eight = f32[]{2.8284271}
    sd = Div(s, eight)
    p = Softmax(sd) {axis=-1}
    o = MatMul(p, v)
    t = Transpose(o) {perm=[1,0,2]}
    y = Reshape(t) {shape=[24,32]}
    return y
  )");
  EXPECT_EQ(references(kernels), 0);
  EXPECT_EQ(count_of(kernels, "MatMul+Div"), 1);
}

TEST(Plan, JoinsGeluWrittenOut) {
  const auto kernels = expect_as_reference(R"(
    input x: f32[8,16]
    w = f32[16,32]{seed 1}
    b = f32[32]{seed 2}
    h = MatMul(x, w)
    hb = Add(h, b)
    root = f32[]{1.4142135}
    one = f32[]{1}
    half = f32[]{0.5}
    d = Div(hb, root)
    e = Erf(d)
    f = Add(e, one)
    g = Mul(hb, f)
    y = Mul(g, half)
    return y
  )");
  EXPECT_EQ(count_of(kernels, "MatMul+Add+Gelu"), 1);
}

TEST(Plan, JoinsTheApproximateGeluWrittenOut) {
  const auto plan_with = [](const char* cubic, const char* exponent) {
    return expect_as_reference(fmt::format(R"(
    input x: f32[8,16]
    w = f32[16,32]{{seed 1}}
    h = MatMul(x, w)
    three = f32[]{{{}}}
    cubic = f32[]{{{}}}
    slope = f32[]{{0.7978846}}
    one = f32[]{{1}}
    half = f32[]{{0.5}}
    m = Mul(h, half)
    p = Pow(h, three)
    c = Mul(p, cubic)
    s = Add(h, c)
    i = Mul(s, slope)
    t = Tanh(i)
    g = Add(t, one)
    y = Mul(m, g)
    return y
  )",
                                           exponent, cubic));
  };
  EXPECT_EQ(count_of(plan_with("0.044715", "3"), "MatMul+Gelu"), 1);
  EXPECT_EQ(count_of(plan_with("0.05", "3"), "MatMul+Gelu"), 0);
  EXPECT_EQ(count_of(plan_with("0.044715", "2"), "MatMul+Gelu"), 0);
}

TEST(Plan, LeavesAGeluOfMoreAxes) {
  expect_as_reference(
      "input x: f32[2,3]\nr = f32[]{1.41421356}\no = f32[]{1}\nh = f32[1,1,1]{0.5}\n"
      "d = Div(x, r)\ne = Erf(d)\na = Add(e, o)\nm = Mul(x, a)\ny = Mul(m, h)\nreturn y");
}

TEST(Plan, SaysWhatTheReferenceRuns) {
  const auto kernels = expect_as_reference("input x: f32[3,4]\ny = Floor(x)\nz = Relu(y)\nreturn z");
  EXPECT_EQ(references(kernels), 1);
}

TEST(Plan, NamesANodeOfTooManyAxes) {
  std::string ones = "1";
  for (int axis = 1; axis < 32; ++axis) ones += ",1";
  const Graph graph = graph_of("input x: f32[" + ones + "]\ny = Add(x, x)\nz = Relu(y)\nreturn z");
  const auto plan = Plan::make(graph, std::vector{graph.type(graph.inputs()[0])}, {.tune = false});
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().message, HasSubstr("input 'x': a tensor of rank 32; oneDNN takes at most 12"));
}

TEST(Plan, NamesTheNodeThatFails) {
  const Graph graph = graph_of(
      "input x: f32[2,8]\ninput s: i64[1]\n"
      "y = Opaque(x, s) {@op_type=\"Reshape\", @domain=\"\", @opset=13, @instance=0, @captures=0}: f32[A]\n"
      "return y");
  const std::vector<Tensor> inputs = {Tensor::floats({2, 8}, std::vector<float>(16)), Tensor::ints({1}, {5})};
  const auto outputs = plan_of(graph, inputs).run(inputs);
  ASSERT_FALSE(outputs.has_value());
  EXPECT_THAT(outputs.error().message, HasSubstr("node 'y' (Reshape): "));
}

TEST(Plan, TakesExtentsThatDependOnData) {
  const Graph graph = graph_of("input x: f32[6]\nn = NonZero(x)\nr = Relu(x)\nreturn n, r");
  expect_as_reference(graph, std::vector{Tensor::floats({6}, {0, 1, 0, -2, 3, 0})});
}

/// Memory that a boxed result shares with an operand must not be overwritten by later kernels, nor by the next run.
TEST(Plan, KeepsBoxedViewsOfOperands) {
  const Graph graph = graph_of(
      "input x: f32[2,8]\ninput s: i64[2]\nr = Relu(x)\n"
      "y = Opaque(r, s) {@op_type=\"Reshape\", @domain=\"\", @opset=13, @instance=0, @captures=0}: f32[A,B]\n"
      "t = Tanh(x)\ne = Exp(t)\nq = Sqrt(e)\nreturn y, q");
  const std::vector inputs = {random_tensor(DType::Float, {2, 8}, 1), Tensor::ints({2}, {4, 4})};
  expect_as_reference(graph, inputs);
  const Plan plan = plan_of(graph, inputs);
  const auto first = plan.run(inputs).value();
  const std::vector others = {random_tensor(DType::Float, {2, 8}, 2), Tensor::ints({2}, {4, 4})};
  ASSERT_TRUE(plan.run(others).has_value());
  EXPECT_EQ(difference(first[0], run_reference(graph, inputs).value()[0]), 0);
}

/// oneDNN cannot add such a value; the convolution is a kernel of its own.
TEST(Plan, AddsBoxedValuesToConvolutions) {
  const Graph graph = graph_of(
      "input x: f32[1,16,8,8]\ninput s: i64[4]\nw = f32[16,16,1,1]{seed 1}\nr = Relu(x)\n"
      "y = Opaque(r, s) {@op_type=\"Reshape\", @domain=\"\", @opset=13, @instance=0, @captures=0}: f32[1,16,8,8]\n"
      "c = Conv(x, w)\nz = Add(c, y)\nreturn z");
  const std::vector inputs = {random_tensor(DType::Float, {1, 16, 8, 8}, 1), Tensor::ints({4}, {1, 16, 8, 8})};
  for (const bool tune : {false, true})
    EXPECT_EQ(count_of(expect_as_reference(graph, inputs, {.tune = tune}), "Conv"), 1);
}

TEST(Plan, TakesText) {
  const Graph graph = graph_of("input x: string[2]\ny = Concat(x, x) {axis=0}\nreturn y, x");
  expect_as_reference(graph, std::vector{Tensor::strings({2}, {"one", "two"})});
}

TEST(Plan, IsForTheExtentsOfItsInputs) {
  const Graph graph = graph_of("input x: f32[N,4]\nw = f32[4,3]{seed 1}\ny = MatMul(x, w)\nreturn y");
  for (const int64_t n : {1, 5, 64}) {
    const std::vector inputs = {random_tensor(DType::Float, {n, 4}, 1)};
    expect_as_reference(graph, inputs);
    const Plan plan = plan_of(graph, inputs);
    const auto wrong = plan.run(std::vector{random_tensor(DType::Float, {n + 1, 4}, 1)});
    ASSERT_FALSE(wrong.has_value());
    EXPECT_THAT(wrong.error().message, HasSubstr("the plan is for"));
  }
}

TEST(Plan, ErrorsNameWhatCannotRun) {
  const Graph graph = graph_of(
      "input x: f32[2]\ny = Opaque(x) {@op_type=\"Magic\", @domain=\"com.example\", @opset=1, "
      "@instance=0, @captures=0}: f32[2]\nreturn y");
  const auto plan = Plan::make(graph, std::vector{TensorType{DType::Float, {2}}}, {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().message, HasSubstr("Magic"));
}

TEST(Plan, OutputsMayBeInputsAndConstantsAndRepeat) {
  expect_as_reference("input x: f32[2,3]\nc = f32[2]{1,2}\ny = Relu(x)\nreturn y, x, c, y");
}

TEST(Plan, RunsAtTheSameTime) {
  const Graph graph = graph_of(kResidual);
  const auto first = inputs_of(graph, 1);
  const auto second = inputs_of(graph, 9);
  const Plan plan = plan_of(graph, first);
  const Plan other = plan_of(graph, first);
  const std::vector<Tensor> expected = {(*plan.run(first))[0], (*plan.run(second))[0]};
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const Plan& mine = t == 3 ? other : plan;
      for (int i = 0; i < 20; ++i) {
        const auto outputs = mine.run(t % 2 == 0 ? first : second);
        wrong[t] += outputs && (*outputs)[0] == expected[t % 2] ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Plan, ThreadsAreItsOwn) {
  const Graph graph = graph_of(kResidual);
  const auto inputs = inputs_of(graph);
  const Plan one = plan_of(graph, inputs, {.threads = 1, .tune = false});
  const Plan two = plan_of(graph, inputs, {.threads = 2, .tune = false});
  EXPECT_EQ(one.threads(), 1);
  EXPECT_EQ(two.threads(), 2);
  EXPECT_LE(difference((*two.run(inputs))[0], (*one.run(inputs))[0]), 1e-5);
}

TEST(Plan, TuningChangesNoResult) { expect_as_reference(kResidual, {.tune = true}); }

/// Returns random times.
class AnyChoice : public MadeUpTimes {
 public:
  explicit AnyChoice(uint64_t seed) : rng_(seed) {}

 private:
  double made_up(const Contender&) override { return rng_.uniform(); }

  Rng rng_;
};

constexpr const char* kManyChoices = R"(
    input x: f32[1,32,12,12]
    w = f32[32,32,3,3]{seed 1}
    u = f32[32,32,1,1]{seed 2}
    a = Conv(x, w) {pads=[1,1,1,1]}
    ra = Relu(a)
    b = Conv(ra, u)
    c = Add(b, ra)
    d = Conv(c, w) {pads=[1,1,1,1]}
    e = Add(d, b)
    j = Concat(c, e, ra) {axis=1}
    p = AveragePool(j) {kernel_shape=[2,2], strides=[2,2]}
    f = Flatten(p) {axis=1}
    v = f32[3456,10]{seed 3}
    y = MatMul(f, v)
    return y, e
  )";

TEST(Plan, EveryChoiceGivesTheSameResult) {
  const Graph graph = graph_of(kManyChoices);
  const auto inputs = inputs_of(graph);
  const auto expected = run_reference(graph, inputs);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto plan = Plan::make(graph, types_of(inputs), {}, std::make_shared<AnyChoice>(seed));
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    const auto got = plan->run(inputs);
    for (size_t i = 0; i < expected->size(); ++i)
      EXPECT_LE(difference((*got)[i], (*expected)[i]), 1e-4) << "seed " << seed;
  }
}

// Our kernel of Winograd's algorithm does not have Softplus.
TEST(Plan, WaysOfAConvolutionDependOnTheWholeFunctionAfterIt) {
  const Graph graph = graph_of(R"(
    input x: f32[1,64,28,28]
    w = f32[64,64,3,3]{seed 1}
    v = f32[64,64,3,3]{seed 2}
    a = Conv(x, w) {pads=[1,1,1,1]}
    b = Softplus(a)
    c = Conv(x, v) {pads=[1,1,1,1]}
    d = Relu(c)
    return b, d)");
  const auto ways = [&](ConvWays& all, const Group& group) {
    TuningLimit unlimited;
    return all.of(graph, group, {}, unlimited).size();
  };
  ConvWays shared(std::make_shared<AnyChoice>(1));
  for (const Group& group : fuse(graph, Stage::Canonical)) {
    ASSERT_EQ(group.posts.size(), 1U);
    ConvWays own(std::make_shared<AnyChoice>(1));
    EXPECT_EQ(ways(shared, group), ways(own, group)) << graph.name(graph.node(group.last()).result());
  }
}

/// Returns the times that it was given.
class Kept : public TuningStore {
 public:
  explicit Kept(std::map<std::string, double> times = {}) : times_(std::move(times)) {}
  std::optional<double> find(const std::string& key) override {
    const auto known = times_.find(key);
    return known == times_.end() ? std::nullopt : std::optional(known->second);
  }
  void store(const std::string& key, double us) override {
    EXPECT_TRUE(times_.emplace(key, us).second) << "measured though it is known: " << key;
  }
  const std::map<std::string, double>& times() const { return times_; }

 private:
  std::map<std::string, double> times_;
};

std::vector<std::string> implementations(const Plan& plan) {
  std::vector<std::string> out;
  for (const PlanKernel& kernel : plan.kernels())
    out.push_back(kernel.name + " " + kernel.implementation + " " + kernel.layout);
  return out;
}

std::vector<std::string> choices(const Graph& graph, const std::shared_ptr<TuningStore>& kept) {
  return implementations(Plan::make(graph, types_of(inputs_of(graph)), {}, make_tuner(true, kept)).value());
}

TEST(Plan, ChoosesByWhatEarlierRunsMeasured) {
  const Graph graph = graph_of(kManyChoices);
  const auto kept = std::make_shared<Kept>();
  const auto first = choices(graph, kept);
  const auto measured = kept->times();
  EXPECT_FALSE(measured.empty());
  EXPECT_EQ(choices(graph, kept), first);
  EXPECT_EQ(kept->times().size(), measured.size()) << "a later run measures nothing";

  // One way is reported as fast, and all others as slow. A product has two ways even where a convolution has only one
  // (on processors without AVX-512).
  std::set<std::vector<std::string>> different;
  for (const auto& fast : measured) {
    std::map<std::string, double> told;
    for (const auto& each : measured) told[each.first] = each.first == fast.first ? 1 : 1e6;
    different.insert(choices(graph, std::make_shared<Kept>(std::move(told))));
  }
  EXPECT_GT(different.size(), 1U) << "what is kept decides";
}

/// Cannot measure one kernel, and finds all others slow.
class Failing : public MadeUpTimes {
 public:
  Failing(std::string key, std::shared_ptr<TuningStore> kept) : MadeUpTimes(std::move(kept)), key_(std::move(key)) {}
  int failures = 0;

 private:
  double made_up(const Contender& contender) override {
    if (contender.key != key_) return 1e6;
    ++failures;
    throw dnnl::error(dnnl_unimplemented, "no such kernel");
  }

  const std::string key_;
};

TEST(Plan, NeverChoosesAKernelThatCannotBeMeasured) {
  const Graph graph = graph_of(kManyChoices);
  const auto kept = std::make_shared<Kept>();
  choices(graph, kept);
  for (const auto& [key, us] : kept->times()) {
    const auto asked = std::make_shared<Kept>();
    const auto failing = std::make_shared<Failing>(key, asked);
    const auto types = types_of(inputs_of(graph));
    const auto first = implementations(Plan::make(graph, types, {}, failing).value());
    EXPECT_EQ(implementations(Plan::make(graph, types, {}, failing).value()), first) << key;
    if (!asked->times().contains(key)) continue;  // asked only after another choice
    EXPECT_EQ(failing->failures, 1) << key;
    EXPECT_EQ(asked->times().at(key), std::numeric_limits<double>::infinity()) << "kept as well";
    std::map<std::string, double> told;
    for (const auto& each : asked->times()) told[each.first] = each.first == key ? 1e12 : 1e6;
    EXPECT_EQ(first, choices(graph, std::make_shared<Kept>(told))) << "as if it were slowest: " << key;
  }
}

TEST(Plan, TraceCoversEveryKernel) {
  const Graph graph = graph_of(kResidual);
  const auto inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  const TracedRun traced = plan.trace(inputs).value();
  EXPECT_EQ(traced.outputs[0], plan.run(inputs).value()[0]);
  ASSERT_EQ(traced.kernels.size(), plan.kernels().size());
  for (size_t k = 0; k < traced.kernels.size(); ++k) {
    EXPECT_GE(traced.kernels[k].duration, 0);
    if (k == 0) continue;
    EXPECT_NEAR(traced.kernels[k].start, traced.kernels[k - 1].start + traced.kernels[k - 1].duration, 1e-6)
        << "one after the other";
  }
}

TEST(Plan, TellsTheBytesOfItsKernels) {
  const Graph graph = graph_of("input x: f32[4,8]\nw = f32[8,16]{seed 1}\ny = MatMul(x, w)\nz = Erf(y)\nreturn z");
  std::map<std::string, size_t> bytes;
  for (const PlanKernel& kernel : plan_of(graph, inputs_of(graph)).kernels()) bytes[kernel.name] = kernel.bytes;
  EXPECT_GE(bytes["MatMul"], (4 * 8 + 8 * 16 + 4 * 16) * sizeof(float)) << "layouts may have paddings";
  EXPECT_EQ(bytes["Erf"], sizeof(float) * 2 * 4 * 16);
}

TEST(Plan, ArenaIsReused) {
  std::string text = "input x: f32[1,64,32,32]\nw = f32[64,64,1,1]{seed 1}\nc0 = Conv(x, w)\n";
  for (int i = 1; i < 20; ++i) text += fmt::format("c{} = Conv(c{}, w)\n", i, i - 1);
  const Graph graph = graph_of(text + "return c19");
  const Plan plan = plan_of(graph, inputs_of(graph));
  constexpr size_t kOne = size_t{64} * 32 * 32 * sizeof(float);
  EXPECT_LT(plan.memory().arena, 4 * kOne);
}

TEST(Plan, MakesOutputsInTheCallersTensors) {
  const Graph graph = graph_of(
      "input x: f32[4,6]\ny = Exp(x)\nz = Reshape(y) {shape=[6,4]}\nt = Transpose(y) {perm=[1,0]}\nr = Relu(y)\n"
      "return y, z, y, t, x, r");
  const std::vector<Tensor> inputs = inputs_of(graph);
  const auto kernels = expect_as_reference(graph, inputs, {.tune = false});
  const auto named = [&](std::string_view name) { return std::ranges::count(kernels, name, &PlanKernel::name); };
  EXPECT_EQ(named("copy output"), 3) << "z and the second y, which lie where the first y is, and the input";
  EXPECT_EQ(named("reorder"), 1) << "t";
}

}  // namespace
}  // namespace isomer::onednn
