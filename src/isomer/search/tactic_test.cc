#include "isomer/search/tactic.h"

#include <algorithm>
#include <set>

#include "isomer/rules/blocks.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

RuleFile file_of(std::string_view text) {
  auto file = parse_rule_file(text);
  if (!file) throw std::runtime_error(file.error().message);
  return std::move(*file);
}

const Tactic& builtin_tactic(const RuleFile& file, const std::string& name) {
  for (const Tactic& tactic : file.tactics)
    if (tactic.name == name) return tactic;
  throw std::runtime_error("no tactic " + name);
}

size_t count_of(const Graph& graph, std::string_view op) {
  return static_cast<size_t>(std::ranges::count_if(graph.nodes(), [&](const Node& node) {
    return node.op->name == op && !graph.is_constant_derived(node.result());
  }));
}

/// Returns the numbers of output channels of the convolutions.
std::set<int64_t> channels_of(const Graph& graph) {
  std::set<int64_t> out;
  for (const Node& node : graph.nodes())
    if (node.op->name == "Conv") out.insert((*graph.type(node.result()).shape)[1].value());
  return out;
}

/// Returns the number of groups of each convolution, in the order of the graph.
std::vector<int64_t> groups_of(const Graph& graph) {
  std::vector<int64_t> out;
  for (const Node& node : graph.nodes())
    if (node.op->name == "Conv") out.push_back(node.attrs.integer("group"));
  return out;
}

constexpr std::string_view kWindow = "{strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}";

/// Convolutions with odd numbers of channels, and between them every operator that a selection can pass.
std::string odd_network() {
  const std::string window(kWindow);
  return R"(
    input x: f32[1,3,8,8]
    w1 = f32[5,3,3,3]{seed 1}
    w2 = f32[5,3,3,3]{seed 2}
    b2 = f32[5]{seed 3}
    d = f32[5,1,3,3]{seed 4}
    w3 = f32[16,10,3,3]{seed 5}
    f = f32[16,7]{seed 6}
    a = Conv(x, w1) )" +
         window + "\n b = Conv(x, w2, b2) " + window + R"(
    r = Relu(a)
    e = Conv(r, d) {group=5, strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}
    s = Add(e, b)
    p = MaxPool(r) {kernel_shape=[3,3], strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}
    c = Concat(s, p) {axis=1}
    y = Conv(c, w3) )" +
         window + R"(
    g = GlobalAveragePool(y)
    h = Flatten(g) {axis=1}
    z = MatMul(h, f)
    return z)";
}

/// Returns a convolution of `channels` channels in 3 groups, between two others.
Graph grouped_network(int64_t channels) {
  return parsed(fmt::format(R"(
    input x: f32[1,3,4,4]
    w1 = f32[{0},3,1,1]{{seed 1}}
    w2 = f32[{0},{1},3,3]{{seed 2}}
    w3 = f32[16,{0},1,1]{{seed 3}}
    a = Conv(x, w1) {{strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}
    b = Conv(a, w2) {{group=3, strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}}
    c = Conv(b, w3) {{strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}}
    return c)",
                            channels, channels / 3));
}

TEST(Tactic, PadsChannelsUntilWeightsAbsorbEverySelection) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(odd_network());
  // Without preferences of a device, every block gives a graph of its own.
  const auto out = run_tactic(graph, builtin_tactic(*file, "pad-channels"), file->rules);
  const std::vector<std::pair<int64_t, std::set<int64_t>>> channels{{4, {8, 16}}, {8, {8, 16}}, {16, {16}}};
  ASSERT_EQ(out.size(), channels.size());
  for (size_t i = 0; i < channels.size(); ++i) {
    EXPECT_TRUE(verify_graph(out[i].graph).has_value());
    EXPECT_EQ(count_of(out[i].graph, "Gather"), 0U) << print_graph(out[i].graph);
    EXPECT_EQ(run_time_ops(out[i].graph), run_time_ops(graph));
    EXPECT_EQ(channels_of(out[i].graph), channels[i].second);
    expect_same_meaning(graph, out[i].graph);
    const auto rules = prefer_blocks(file->rules, std::vector{channels[i].first});
    const auto preferred = run_tactic(graph, builtin_tactic(*file, "pad-channels"), rules);
    ASSERT_EQ(preferred.size(), 1U);
    EXPECT_EQ(preferred[0].graph.hash(), out[i].graph.hash());
  }
}

/// The mean, the variance and the result of a batch normalization of x, then the gradients of s, b and x for that of
/// the result, as the chain rule makes them.
constexpr std::string_view kNormalization = R"(
    input x: f32[2,3,4,4]
    input g: f32[2,3,4,4]
    input s: f32[3]
    input b: f32[3]
    half = f32[]{0.5}
    e = f32[]{1e-5}
    count = f32[]{32}
    m = ReduceMean(x) {axes=[0,2,3], keepdims=1}
    c = Sub(x, m)
    q = Mul(c, c)
    v = ReduceMean(q) {axes=[0,2,3], keepdims=1}
    ve = Add(v, e)
    d = Sqrt(ve)
    n = Div(c, d)
    s3 = Unsqueeze(s) {axes=[1,2]}
    b3 = Unsqueeze(b) {axes=[1,2]}
    ns = Mul(n, s3)
    y = Add(ns, b3)
    gb = ReduceSum(g) {axes=[0,2,3], keepdims=1}
    gn = Mul(g, n)
    gs = ReduceSum(gn) {axes=[0,2,3], keepdims=1}
    u = Mul(g, s3)
    ud = Div(u, d)
    un = Mul(ud, n)
    uneg = Neg(un)
    gd = ReduceSum(uneg) {axes=[0,2,3], keepdims=1}
    hd = Div(half, d)
    gv = Mul(gd, hd)
    gvm = Div(gv, count)
    gve = Expand(gvm) {shape=[2,3,4,4]}
    gc = Mul(gve, c)
    gc1 = Add(gc, ud)
    gc2 = Add(gc, gc1)
    gcn = Neg(gc2)
    gm = ReduceSum(gcn) {axes=[0,2,3], keepdims=1}
    gmm = Div(gm, count)
    gme = Expand(gmm) {shape=[2,3,4,4]}
    gx = Add(gme, gc2)
    return y, gb, gs, gx)";

TEST(Tactic, LeavesTwoSumsInTheGradientOfANormalization) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(kNormalization);
  ASSERT_EQ(count_of(graph, "ReduceSum"), 4U);
  const auto out = run_tactic(graph, builtin_tactic(*file, "hoist-factors-out-of-sums"), file->rules);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(count_of(out[0].graph, "ReduceSum"), 2U) << print_graph(out[0].graph);
  EXPECT_EQ(count_of(out[0].graph, "Expand"), 0U);
  expect_same_meaning(graph, out[0].graph);
}

TEST(Tactic, MergesGroupsTogetherWithPaddedChannels) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  // Input: 3 groups of 8 channels between convolutions of 24. Result: 2 groups of 16 between convolutions of 32.
  const Graph graph = grouped_network(24);
  const auto out = run_tactic(graph, builtin_tactic(*file, "pad-channels"), file->rules);
  ASSERT_EQ(out.size(), 1U) << "all channels fill blocks of 4 and 8";
  EXPECT_EQ(count_of(out[0].graph, "Gather"), 0U);
  EXPECT_EQ(groups_of(out[0].graph), (std::vector<int64_t>{1, 2, 1}));
  expect_same_meaning(graph, out[0].graph);
}

TEST(Tactic, MergesGroupsToTheBlocksThatItsSeedsHaveChosen) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  // Input: 3 groups of 4 channels between convolutions of 12. Result: 2 groups of 8 between convolutions of 16, or one.
  const Graph graph = grouped_network(12);
  const auto out = run_tactic(graph, builtin_tactic(*file, "pad-channels"), file->rules);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(groups_of(out[0].graph), (std::vector<int64_t>{1, 2, 1}));
  EXPECT_EQ(groups_of(out[1].graph), (std::vector<int64_t>{1, 1, 1}));
  for (const TacticResult& result : out) {
    EXPECT_EQ(count_of(result.graph, "Gather"), 0U) << print_graph(result.graph);
    expect_same_meaning(graph, result.graph);
  }
}

TEST(Tactic, RewritesFactorizedReductions) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(R"(
    input x: f32[1,4,5,5]
    w1 = f32[3,4,1,1]{seed 1}
    w2 = f32[3,4,1,1]{seed 2}
    s = f32[6]{seed 3}
    b = f32[6]{seed 4}
    m = f32[6]{seed 5}
    v = f32[6]{fill 1}
    p = AveragePool(x) {kernel_shape=[1,1], strides=[2,2], dilations=[1,1], pads=[0,0,0,0]}
    c = Conv(p, w1) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    q = Pad(x) {pads=[0,0,0,0,0,0,1,1]}
    t = Slice(q) {starts=[1,1], ends=[6,6], axes=[2,3], steps=[1,1]}
    u = AveragePool(t) {kernel_shape=[1,1], strides=[2,2], dilations=[1,1], pads=[0,0,0,0]}
    d = Conv(u, w2) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    j = Concat(c, d) {axis=1}
    y = BatchNormalization(j, s, b, m, v) {epsilon=0}
    return y)");
  const auto rules_for_16 = prefer_blocks(file->rules, std::vector<int64_t>{16});
  const auto out = run_tactic(graph, builtin_tactic(*file, "pad-channels"), rules_for_16);
  ASSERT_EQ(out.size(), 1U);
  for (const char* gone : {"AveragePool", "Pad", "Slice", "Concat", "BatchNormalization"})
    EXPECT_EQ(count_of(out[0].graph, gone), 0U) << gone;
  EXPECT_EQ(count_of(out[0].graph, "Add"), 1U);
  std::vector<std::string> rules;
  for (const SearchStep& step : out[0].steps) rules.push_back(step.rule);
  EXPECT_EQ(rules[0], "stride-pool-into-convolution");
  EXPECT_EQ(rules[1], "select-moved-pixels");
}

TEST(Tactic, WidensGroupsToBlocksLayerByLayer) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(R"(
    input x: f32[1,64,2,2]
    w1 = f32[64,4,1,1]{seed 1}
    w2 = f32[64,8,1,1]{seed 2}
    w3 = f32[64,16,1,1]{seed 3}
    w4 = f32[64,1,1,1]{seed 4}
    a = Conv(x, w1) {group=16, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    b = Conv(a, w2) {group=8, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    c = Conv(b, w3) {group=4, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    d = Conv(c, w4) {group=64, strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    return d)");
  const auto widened = [&](int64_t block) {
    const auto rules = prefer_blocks(file->rules, {&block, 1});
    return run_tactic(graph, builtin_tactic(*file, "widen-groups"), rules);
  };
  const auto to_16 = widened(16);
  ASSERT_EQ(to_16.size(), 2U);  // seeds that merge 4 groups, or 2: both give the same result
  for (const TacticResult& result : to_16) {
    EXPECT_EQ(groups_of(result.graph), (std::vector<int64_t>{4, 4, 4, 64}));
    expect_same_meaning(graph, result.graph);
  }
  const auto to_8 = widened(8);
  ASSERT_EQ(to_8.size(), 1U);
  EXPECT_EQ(groups_of(to_8[0].graph), (std::vector<int64_t>{8, 8, 4, 64}));
  expect_same_meaning(graph, to_8[0].graph);
  EXPECT_EQ(run_tactic(graph, builtin_tactic(*file, "widen-groups"), file->rules).size(), 3U);
}

TEST(Tactic, SharesRelusAndTakesDoublingsIntoWeights) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(R"(
    input x: f32[1,2,4,4]
    input z: f32[1,3,4,4]
    w = f32[4,5,1,1]{seed 1}
    a = Add(z, z)
    c = Concat(x, a) {axis=1}
    r = Relu(c)
    y = Conv(r, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    return y)");
  const auto out = run_tactic(graph, builtin_tactic(*file, "share-relus"), file->rules);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(count_of(out[0].graph, "Relu"), 2U);
  EXPECT_EQ(count_of(out[0].graph, "Mul") + count_of(out[0].graph, "Add"), 0U) << print_graph(out[0].graph);
  expect_same_meaning(graph, out[0].graph);
}

TEST(Tactic, EverySettingOfASeedIsAGraphOfItsOwn) {
  const RuleFile file = file_of(
      "rule pad (Relu ?x) choose ?n in [1, 2]\n"
      "  => (Slice starts=[0] ends=[dim(?x, 0)] axes=[0] steps=[1] (Pad pads=[0, ?n] (Relu ?x))) where rank(?x) == 1\n"
      "rule below (Abs (Slice ..s ?x)) => (Slice ..s (Abs ?x))\n"
      "rule never (Tanh ?x) => (Tanh ?x) where rank(?x) == 7\n"
      "tactic t seed never seed pad then below\n"
      "tactic u seed never then below");
  const Graph graph = parsed("input x: f32[3]\nr = Relu(x)\ny = Abs(r)\nreturn y");
  const auto out = run_tactic(graph, file.tactics[0], file.rules);
  ASSERT_EQ(out.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(out[i].steps.size(), 2U);
    EXPECT_EQ(out[i].steps[0].rule, "pad");
    EXPECT_EQ(out[i].steps[0].nodes, std::vector<std::string>{"r"});
    EXPECT_EQ(out[i].steps[0].ops_before, 2U);
    EXPECT_EQ(out[i].steps[1].rule, "below");
    EXPECT_EQ(out[i].steps[1].ops_after, 4U);
    expect_same_meaning(graph, out[i].graph);
  }
  EXPECT_NE(out[0].graph.hash(), out[1].graph.hash());
  EXPECT_TRUE(run_tactic(graph, file.tactics[1], file.rules).empty());
}

TEST(Tactic, EndsThoughRulesGoRoundInCircles) {
  const RuleFile file = file_of(
      "rule right (Add (Add ?x ?y) ?z) => (Add ?x (Add ?y ?z))\n"
      "tactic t seed right then right");
  const Graph graph =
      parsed("input a: f32[2]\ninput b: f32[2]\ninput c: f32[2]\np = Add(a, b)\ny = Add(p, c)\nreturn y");
  const auto out = run_tactic(graph, file.tactics[0], file.rules);
  ASSERT_EQ(out.size(), 1U);
  expect_same_meaning(graph, out[0].graph);
}

TEST(Tactic, PutsWeightsOnTheLeftOfProductsAndCancelsTranspositions) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(R"(
    input x: f32[4,6]
    w1 = f32[6,8]{seed 1}
    b = f32[8]{seed 2}
    c = f32[]{2}
    w2 = f32[8,6]{seed 3}
    p = MatMul(x, w1)
    q = Add(p, b)
    d = Div(q, c)
    e = Erf(d)
    m = Mul(q, e)
    y = MatMul(m, w2)
    z = Add(y, x)
    return z)");
  const auto out = run_tactic(graph, builtin_tactic(*file, "transpose-products"), file->rules);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(count_of(out[0].graph, "Transpose"), 2U) << print_graph(out[0].graph);
  for (const Node& node : out[0].graph.nodes())
    if (node.op->name == "MatMul") {
      EXPECT_TRUE(out[0].graph.is_constant_derived(out[0].graph.operands(node)[0]));
    }
  expect_same_meaning(graph, out[0].graph);
}

TEST(Tactic, MakesChainsOfConvolutionsOfConcatenations) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(R"(
    input x: f32[1,2,8,8]
    input y: f32[1,3,8,8]
    input z: f32[1,1,8,8]
    w = f32[4,6,1,1]{seed 1}
    b = f32[4]{seed 2}
    c = Concat(x, y, z) {axis=1}
    p = MaxPool(c) {kernel_shape=[3,3], strides=[2,2], dilations=[1,1], pads=[0,0,0,0]}
    q = Conv(p, w, b) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}
    return q)");
  const auto out = run_tactic(graph, builtin_tactic(*file, "chain-convolutions"), file->rules);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(count_of(out[0].graph, "Concat"), 0U) << print_graph(out[0].graph);
  EXPECT_EQ(count_of(out[0].graph, "Conv"), 3U);
  EXPECT_EQ(count_of(out[0].graph, "Add"), 2U);
  expect_same_meaning(graph, out[0].graph);
}

}  // namespace
}  // namespace isomer
