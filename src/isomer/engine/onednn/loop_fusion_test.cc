#include "isomer/engine/onednn/loop_fusion.h"

#include <fmt/ranges.h>

#include <set>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/canonical.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/planner.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

/// The operators of each group, such as "Conv+Relu Mul".
std::string fused(const std::string& text) {
  const Graph graph = graph_of(text);
  std::string out;
  for (const Group& group : fuse(graph, Stage::Given)) {
    std::vector<std::string> names;
    for (const NodeId id : nodes_of(group)) names.push_back(graph.node(id).op->name);
    out += (out.empty() ? "" : " ") + fmt::format("{}", fmt::join(names, "+"));
  }
  return out;
}

constexpr const char* kInputs = "input x: f32[2,16,5,5]\ninput y: f32[2,16,5,5]\ninput c: f32[16,1,1]\n";

std::string fused_after_inputs(const std::string& text) { return fused(kInputs + text); }

TEST(LoopFusion, JoinsElementwiseNodesWithOneResult) {
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = Exp(a)\nd = Sub(b, c)\nreturn d"), "Mul+Exp+Sub");
  EXPECT_EQ(fused_after_inputs("a = Greater(x, y)\nb = Where(a, x, c)\nreturn b"), "Greater+Where");
  EXPECT_EQ(fused_after_inputs("a = Sigmoid(x)\nb = Mul(x, a)\nreturn b"), "Sigmoid+Mul");
  EXPECT_EQ(fused_after_inputs("a = Expand(c) {shape=[2,16,5,5]}\nb = Mul(x, a)\nd = Tanh(b)\nreturn d"),
            "Expand+Mul+Tanh");
}

TEST(LoopFusion, LeavesSingleNodes) {
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nreturn a"), "Mul");
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = Tanh(a)\nreturn b"), "Mul+Tanh") << "a node with its post";
}

TEST(LoopFusion, KeepsWhatIsReadElsewhere) {
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = Exp(a)\nd = Sub(b, a)\nreturn d, a"), "Mul Exp+Sub");
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = Exp(a)\nd = Sub(b, y)\ne = Softmax(a) {axis=1}\nreturn d, e"),
            "Mul Exp+Sub Softmax");
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = Exp(a)\nd = Neg(a)\nreturn b, d"), "Mul Exp Neg");
}

TEST(LoopFusion, AreComputedAgainIfThatIsCheap) {
  EXPECT_EQ(fused_after_inputs("a = Sub(x, c)\nb = Exp(a)\nd = Mul(a, y)\nreturn b, d"), "Sub+Exp Sub+Mul");
  EXPECT_EQ(fused_after_inputs("a = Neg(x)\nb = Sub(a, c)\nd = Exp(b)\ne = Mul(b, y)\nreturn d, e"),
            "Neg+Sub+Exp Neg+Sub+Mul");
  EXPECT_EQ(fused_after_inputs("a = Exp(x)\nb = Sub(a, c)\nd = Tanh(a)\nreturn b, d"), "Exp Sub Tanh");
  EXPECT_EQ(fused_after_inputs("a = Sub(x, c)\nb = Exp(a)\nd = Mul(a, y)\nreturn a, b, d"), "Sub Exp Mul");
  EXPECT_EQ(fused_after_inputs("a = Sub(x, c)\nb = Exp(a)\nd = Softmax(a) {axis=1}\nreturn b, d"), "Sub Exp Softmax");
}

TEST(LoopFusion, LeavesPostsToConvolutions) {
  const std::string conv = "w = f32[16,16,1,1]{seed 1}\na = Conv(x, w)\nb = Relu(a)\n";
  EXPECT_EQ(fused_after_inputs(conv + "d = Mul(b, y)\ne = Exp(d)\nf = Sub(e, y)\nreturn f"), "Conv+Relu Mul+Exp+Sub");
  EXPECT_EQ(fused_after_inputs(conv + "d = Mul(x, y)\ne = Neg(x)\nf = Sub(e, d)\ng = Add(b, f)\nreturn g"),
            "Mul+Neg+Sub Conv+Relu+Add");
}

TEST(LoopFusion, EndsWithSums) {
  EXPECT_EQ(fused_after_inputs("a = Sub(x, c)\nb = Mul(a, a)\nd = ReduceMean(b) {axes=[0,2,3]}\nreturn d"),
            "Sub+Mul+ReduceMean");
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = ReduceSum(a) {axes=[1]}\nd = Exp(b)\nreturn d"),
            "Mul+ReduceSum Exp");
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = ReduceMax(a) {axes=[1]}\nreturn b"), "Mul ReduceMax");
  EXPECT_EQ(fused_after_inputs("a = Mul(x, y)\nb = ReduceSum(a) {axes=[1]}\nd = Neg(a)\nreturn b, d"),
            "Mul ReduceSum Neg");
}

TEST(LoopFusion, JoinsOnlyElementsOfOneExtent) {
  EXPECT_EQ(fused_after_inputs("a = Neg(c)\nb = Sub(x, a)\nd = Exp(b)\nreturn d"), "Neg Sub+Exp");
}

TEST(LoopFusion, AreNotTooLarge) {
  std::string text = "input x: f32[8]\n";
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{0} = {1}({2}, {3})\n", i == 199 ? "z" : fmt::format("a{}", i), i % 2 == 0 ? "Add" : "Mul",
                        i == 0 ? "x" : fmt::format("a{}", i - 1), i < 2 ? "x" : fmt::format("a{}", i - 2));
  const Graph graph = graph_of(text + "return z");
  for (const Group& group : fuse(graph, Stage::Canonical)) EXPECT_LE(nodes_of(group).size(), 64U);
  expect_as_reference("input x: f32[8]\n" + [] {
    std::string sum = "a0 = Neg(x)\n";
    for (int i = 1; i < 60; ++i) sum += fmt::format("i{0} = f32[8]{{seed {0}}}\na{0} = Add(a{1}, i{0})\n", i, i - 1);
    return sum;
  }() + "return a59");
}

TEST(LoopFusion, LargeOutputsAreComputedAsTheReferenceDoes) {
  // Larger than the second level of cache: not read, read, returned twice, and over a value that nothing else reads.
  const std::string inputs = "input x: f32[1025,2049]\ninput y: f32[1025,2049]\ninput c: f32[2049]\n";
  expect_as_reference(inputs +
                      "a = Mul(x, y)\nb = Sub(a, c)\nd = Mul(b, x)\ne = Add(x, c)\nf = Neg(e)\nreturn d, e, f");
  expect_as_reference(inputs + "a = Mul(x, y)\nb = Sub(a, c)\nd = Neg(y)\nreturn b, b, d");
  expect_as_reference(inputs + "a = Softmax(x) {axis=1}\nb = Mul(a, y)\nd = Sub(b, c)\ne = Neg(y)\nreturn d, e");
}

/// A graph of random element-wise nodes over images, with convolutions, sums over axes and conditions.
std::string random_text(Rng& rng) {
  const int64_t channels = rng.below(3) == 0 ? 5 : 32;
  const std::string whole = fmt::format("[2,{},3,{}]", channels, rng.below(2) == 0 ? 7 : 16);
  std::string text = fmt::format(
      "input x: f32{0}\ninput y: f32{0}\ninput f: bool{0}\ninput g: bool[{1},1,1]\ninput c: f32[{1},1,1]\n"
      "input n: f32[2,{1},1,1]\ninput r: f32[1,1,3,1]\ninput s: f32[]\nh = f32[]{{0.5}}\n"
      "k = f32[1,{1},1,1]{{seed 2}}\nw = f32[{1},{1},1,1]{{seed 3}}\nu = Conv(x, w)\n",
      whole, channels);
  if (rng.below(2) == 0) text += "v = Transpose(y) {perm=[0,1,3,2]}\nt0 = Transpose(v) {perm=[0,1,3,2]}\n";
  std::vector<std::string> numbers = {"x", "y", "u", "u"}, conditions = {"f", "g"};
  const std::vector<std::string> small = {"c", "n", "r", "s", "h", "k", "g"};
  std::vector<std::string> made;
  const auto number = [&]() -> std::string {
    if (rng.below(4) == 0) return small[rng.below(small.size() - 1)];
    return numbers[numbers.size() < 5 || rng.below(3) == 0 ? rng.below(numbers.size())
                                                           : numbers.size() - 1 - rng.below(3)];
  };
  const auto image = [&] { return numbers[rng.below(numbers.size())]; };
  const auto condition = [&] { return conditions[rng.below(conditions.size())]; };
  const char* const unary[] = {"Neg", "Abs", "Tanh", "Sigmoid", "Relu", "Erf", "HardSwish", "Identity", "Softplus"};
  const char* const binary[] = {"Add", "Sub", "Mul", "Max", "Min"};
  const char* const compare[] = {"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"};
  const int64_t length = rng.between(4, 16);
  for (int64_t i = 0; i < length; ++i) {
    const std::string name = fmt::format("a{}", i);
    const uint64_t kind = rng.below(12);
    std::string line;
    bool flag = false;
    if (kind < 4) {
      line = fmt::format("{}({})", unary[rng.below(std::size(unary))], image());
    } else if (kind < 8) {
      const std::string one = image(), other = number();
      const bool first = rng.below(2) == 0;
      line = fmt::format("{}({}, {})", binary[rng.below(std::size(binary))], first ? one : other, first ? other : one);
    } else if (kind == 8) {
      line = fmt::format("Where({}, {}, {})", condition(), image(), number());
    } else if (kind == 9) {
      flag = true;
      line = fmt::format("{}({}, {})", compare[rng.below(std::size(compare))], image(), number());
    } else if (kind == 10 && conditions.size() > 2) {
      flag = true;
      line = fmt::format("Or({}, {})", conditions[2], condition());
    } else {
      line = conditions.size() > 2 ? fmt::format("Cast({}) {{to=1}}", conditions.back())
                                   : fmt::format("Clip({}) {{max=f32[]{{0.75}}}}", image());
    }
    text += fmt::format("{} = {}\n", name, line);
    (flag ? conditions : numbers).push_back(name);
    made.push_back(name);
  }
  std::vector<std::string> returned = {made.back(), made[rng.below(made.size())]};
  const char* const axes[] = {"[0,2,3]", "[2,3]", "[1]", "[3]", "[0]", "[0,1,2,3]", "[1,3]"};
  const char* const sums[] = {"ReduceSum", "ReduceMean", "ReduceSumSquare", "ReduceL1", "ReduceL2"};
  for (int i = 0; i < 2; ++i) {
    text += fmt::format("q{} = {}({}) {{axes={}, keepdims={}}}\n", i, sums[rng.below(std::size(sums))], image(),
                        axes[rng.below(std::size(axes))], rng.below(2));
    returned.push_back(fmt::format("q{}", i));
  }
  return text + fmt::format("return {}", fmt::join(returned, ", "));
}

/// Checks that every node is in one group or in several loops, that groups read only what groups before them made, and
/// that only their last results are read elsewhere.
void expect_valid(const Graph& graph, const std::vector<Group>& groups) {
  std::vector<std::set<size_t>> groups_of(graph.nodes().size());
  for (size_t g = 0; g < groups.size(); ++g)
    for (const NodeId id : nodes_of(groups[g])) EXPECT_TRUE(groups_of[id].insert(g).second);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.is_input() || node.is_constant()) continue;
    ASSERT_FALSE(groups_of[id].empty());
    bool is_last = false;
    for (const size_t g : groups_of[id]) {
      is_last = is_last || groups[g].last() == id;
      EXPECT_TRUE(groups_of[id].size() == 1 || !groups[g].inner.empty());
    }
    for (uint32_t i = 0; i < node.num_results; ++i) EXPECT_TRUE(is_last || !graph.is_output(node.result(i)));
    for (const size_t g : groups_of[id]) {
      for (const ValueId operand : graph.operands(node)) {
        const NodeId maker = operand == kNoValue ? id : graph.producer(operand);
        if (maker == id || groups_of[maker].empty() || groups_of[maker].contains(g)) continue;
        ASSERT_EQ(groups_of[maker].size(), 1U);
        const size_t before = *groups_of[maker].begin();
        EXPECT_LT(before, g);
        EXPECT_EQ(groups[before].last(), maker);
      }
    }
  }
}

class RandomLoops : public testing::TestWithParam<int> {};

TEST_P(RandomLoops, AreValidAndComputeTheSame) {
  Rng rng(static_cast<uint64_t>(GetParam()));
  const std::string text = random_text(rng);
  SCOPED_TRACE(text);
  const Graph graph = graph_of(text);
  for (const Stage stage : {Stage::Given, Stage::Canonical}) expect_valid(graph, fuse(graph, stage));
  const auto kernels = expect_as_reference(text);
  EXPECT_EQ(references(kernels), 0);
  expect_as_reference(text, {.threads = 2, .tune = false});
  expect_own_as_reference(text);
}

INSTANTIATE_TEST_SUITE_P(Random, RandomLoops, testing::Range(0, 100));

TEST(Fusion, AWrittenGeluOfAnInputIsAGroup) {
  const Graph graph = graph_of(
      "input x: f32[8,32]\nroot = f32[]{1.4142135}\none = f32[]{1}\nhalf = f32[]{0.5}\nd = Div(x, root)\ne = Erf(d)\n"
      "f = Add(e, one)\ng = Mul(x, f)\ny = Mul(g, half)\nreturn y");
  const std::vector<Group> groups = fuse(graph, Stage::Given);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(graph.node(groups[0].last()).result(), graph.outputs()[0]);
}

TEST(Fusion, ScalesOnlyInputsThatProductsAdd) {
  const std::string inputs =
      "input x: f32[20,24]\ninput w: f32[24,40]\ninput m: f32[20,40]\nc = f32[]{0.9}\nv = Mul(m, c)\n";
  EXPECT_EQ(fused(inputs + "a = MatMul(x, w)\nb = Add(v, a)\nreturn b"), "MatMul+Mul+Add");
  EXPECT_EQ(fused(inputs + "a = MatMul(x, w)\nb = Add(v, a)\nreturn b, v"), "Mul MatMul+Add");
  EXPECT_EQ(fused(inputs + "k = f32[24,40]{seed 1}\na = MatMul(x, k)\nb = Add(v, a)\nreturn b"), "Mul MatMul+Add");
  EXPECT_EQ(fused(inputs + "a = MatMul(x, w)\ne = Exp(v)\nb = Add(e, a)\nreturn b"), "Mul+Exp MatMul+Add");
}

/// The edges of parts of a graph have these layouts, and values of other types than f32 are not converted.
TEST(LoopFusion, ConditionsWithinLoopsAreNotBlocked) {
  const Graph graph = graph_of(
      "input x: f32[1,32,8,8]\nw = f32[32,32,1,1]{seed 1}\nzero = f32[]{0}\nc = Conv(x, w)\nd = Conv(c, w)\n"
      "p = Greater(c, zero)\ny = Where(p, d, zero)\ne = Conv(y, w)\nreturn e");
  const KernelPlan plan = OnednnPlanner(native_block()).plan(graph).value();
  const auto layout = [&](std::string_view name) {
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (graph.name(value) == name) return plan.layouts[value];
    throw std::runtime_error("no such value");
  };
  EXPECT_EQ(layout("y"), Layout::Blocked);
  EXPECT_EQ(layout("p"), Layout::Plain);
}

}  // namespace
}  // namespace isomer::onednn
