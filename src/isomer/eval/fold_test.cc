#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/eval/executor.h"
#include "isomer/eval/fold_testing.h"
#include "isomer/eval/random.h"
#include "isomer/ir/verify_testing.h"
#include "isomer/ops/graph_testing.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Status fails_kernel(KernelContext&) { return fail("on purpose"); }

/// Repeats every element n times (attribute `n`) in one vector, whose extent is known or, for Copies, known only at run
/// time.
Status repeat_kernel(KernelContext& context) {
  const auto x = context.operands[0].data<float>();
  std::vector<float> y;
  for (const float v : x) y.insert(y.end(), static_cast<size_t>(context.attrs.integer("n")), v);
  context.results.push_back(Tensor::floats({static_cast<int64_t>(y.size())}, y));
  return {};
}

Result<std::vector<TensorType>> infer_repeat(const OpView& view) {
  const Dim extent =
      view.op.data_dependent ? Dim::symbol("copies") : element_count(view.shape(0)) * Dim(view.attrs.integer("n"));
  return std::vector<TensorType>{{view.dtype(0), {extent}}};
}

const OpDef* find_repeat(std::string_view name, std::string_view domain) {
  static const std::vector<AttrDef> kAttrs{{.name = "n", .kind = AttrKind::Int}};
  static const OpDef kRepeat{.name = "Repeat", .attrs = kAttrs, .infer = infer_repeat, .kernel = repeat_kernel};
  static const OpDef kCopies{
      .name = "Copies", .attrs = kAttrs, .infer = infer_repeat, .kernel = repeat_kernel, .data_dependent = true};
  static const OpDef kBare{.name = "Bare", .infer = infer_same};
  static const OpDef kFails{.name = "Fails", .infer = infer_same, .kernel = fails_kernel};
  for (const OpDef* def : {&kRepeat, &kCopies, &kBare, &kFails})
    if (name == def->name) return def;
  return find_op(name, domain);
}

Graph with_repeat(std::string_view text) { return parsed(text, find_repeat); }

/// Returns the folded graph, and checks that it is valid and equivalent.
Graph folded(std::string_view text, int64_t max_growth = 1 << 20) {
  const Graph graph = with_repeat(text);
  auto result = fold_constants(graph, max_growth);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  const Status valid = verify_graph(*result);
  EXPECT_TRUE(valid.has_value()) << (valid ? "" : valid.error().message);
  return std::move(*result);
}

/// Returns the names of the remaining operators, except inputs, in order.
std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (!node.is_input()) names.push_back(node.op->name);
  return names;
}

using testing::ElementsAre;

TEST(Fold, ReplacesWhatDependsOnConstantsAlone) {
  const Graph graph = folded(R"(
    input x: f32[2,3]
    w = f32[3,2]{1,2,3,4,5,6}
    t = Transpose(w) {perm=[1,0]}
    r = Relu(t)
    y = Reshape(r) {shape=[6]}
    z = Relu(x)
    return y, z)");
  EXPECT_THAT(ops(graph), ElementsAre("Constant", "Relu"));
  const Tensor* data = graph.constant(graph.outputs()[0]);
  ASSERT_NE(data, nullptr);
  EXPECT_THAT(data->data<float>(), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_EQ(graph.name(graph.outputs()[0]), "y");
  EXPECT_EQ(graph.name(graph.outputs()[1]), "z");
}

TEST(Fold, LeavesAMegabyteOfZerosAsItIs) {
  const std::string text = "z = ConstantOfShape() {shape=[%]}\n r = Exp(z)\n return z, r";
  const auto of = [&](const std::string& extent) { return std::string(text).replace(text.find('%'), 1, extent); };
  EXPECT_THAT(ops(folded(of("262144"), 8 << 20)), ElementsAre("Constant", "Constant"));
  EXPECT_THAT(ops(folded(of("262145"), 8 << 20)), ElementsAre("ConstantOfShape", "Constant"));
}

TEST(Fold, DoesNotTouchWhatReadsAnInput) {
  const std::string text = "input x: f32[2]\n a = Relu(x)\n y = Sigmoid(a)\n return y";
  EXPECT_EQ(folded(text).hash(), with_repeat(text).hash());
}

TEST(Fold, LeavesWhatAnOpaqueNodeReads) {
  const std::string opaque =
      R"(Opaque(x, s) {@captures=0, @domain="", @instance=0, @node="", @op_type="Pad", @opset=17})";
  const Graph graph =
      folded("input x: f32[2]\nc = f32[2]{1,2}\nr = Relu(c)\ns = Relu(r)\nt = Tanh(r)\nm = Add(x, t)\ny = " + opaque +
             ": f32[2]\nreturn y, m");
  EXPECT_THAT(ops(graph), testing::UnorderedElementsAre("Constant", "Relu", "Relu", "Constant", "Add", "Opaque"));
}

TEST(Fold, StopsAtTheAllowedGrowth) {
  // Both grow by 8 bytes: only one of the two fits, and the later one is tried first.
  const std::string text = R"(
    c = f32[1]{1}
    a = Repeat(c) {n=3}
    b = Repeat(c) {n=4}
    return a, b)";
  EXPECT_THAT(ops(folded(text, 28)), ElementsAre("Constant", "Constant"));
  EXPECT_THAT(ops(folded(text, 27)), ElementsAre("Constant", "Repeat", "Constant"));
  EXPECT_THAT(ops(folded(text, 0)), ElementsAre("Constant", "Repeat", "Repeat"));
}

TEST(Fold, ResultsThatReplaceLargerConstantsAreFree) {
  const std::string text = R"(
    w = f32[8]{seed 1}
    t = Reshape(w) {shape=[2,4]}
    y = Relu(t)
    return y)";
  EXPECT_THAT(ops(folded(text, 0)), ElementsAre("Constant"));
  // Not if the original is still read.
  EXPECT_THAT(ops(folded(text + ", w", 0)), ElementsAre("Constant", "Reshape", "Relu"));
}

TEST(Fold, AGrowingStepIsFineWhenItShrinksAgain) {
  const std::string text = R"(
    w = f32[2]{1,2}
    big = Repeat(w) {n=100}
    small = Reshape(big) {shape=[200]}
    y = Relu(small)
    return y)";
  EXPECT_THAT(ops(folded(text, 792)), ElementsAre("Constant"));
  EXPECT_THAT(ops(folded(text, 791)), ElementsAre("Constant", "Repeat", "Reshape", "Relu"));
}

TEST(Fold, NodesWithoutKernelOrWithAFailingOneStay) {
  const Graph graph = folded(R"(
    w = f32[4]{1,2,3,4}
    r = Relu(w)
    a = Bare(r)
    b = Fails(r)
    y = Relu(a)
    z = Sigmoid(b)
    return y, z)");
  EXPECT_THAT(ops(graph), ElementsAre("Constant", "Bare", "Fails", "Relu", "Sigmoid"));
}

TEST(Fold, DataDependentResultsAreFoldedAndRefineWhatFollows) {
  const std::string text = R"(
    input x: f32[1]
    w = f32[2]{1,2}
    c = Copies(w) {n=3}
    y = Bare(c)
    return y)";
  const Graph graph = folded(text);
  EXPECT_THAT(ops(graph), ElementsAre("Constant", "Bare"));
  EXPECT_EQ(graph.type(graph.outputs()[0]).str(), "f32[6]");
  EXPECT_THAT(ops(folded(text, 0)), ElementsAre("Constant", "Copies", "Bare"));
}

TEST(Fold, NodesForWhichThereIsNoTimeStay) {
  const Graph graph = with_repeat("input x: f32[2]\n w = f32[2]{1,2}\n r = Relu(w)\n y = Add(x, r)\n return y");
  const auto late = fold(graph, {.end = Deadline::after(0)});
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->graph.hash(), graph.hash());
  EXPECT_TRUE(late->constants.empty());
}

TEST(Fold, TakesWhatIsComputedAlready) {
  const Graph graph = with_repeat("input x: f32[2]\n w = f32[2]{1,2}\n r = Fails(w)\n y = Add(x, r)\n return y");
  const Tensor known = Tensor::floats({2}, {3, 4});
  const auto computed = [&](uint64_t hash) {
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (graph.value_hash(value) == hash && graph.name(value) == "r") return Tensor(known);
    return Tensor();
  };
  const auto folding = fold(graph, {.computed = computed});
  ASSERT_TRUE(folding.has_value());
  ASSERT_EQ(folding->constants.size(), 1U);
  EXPECT_THAT(folding->constants[0].second.data<float>(), ElementsAre(3, 4));
}

TEST(Fold, FoldingTwiceIsFoldingOnce) {
  const Graph once = folded(
      "input x: f32[4]\n w = f32[2,2]{1,2,3,4}\n r = Reshape(w) {shape=[4]}\n s = Sigmoid(r)\n y = Relu(x)\n return s, "
      "y");
  const auto twice = fold_constants(once);
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(once.hash(), twice->hash());
}

TEST(Fold, LeavesCastsWhoseResultIsUndefined) {
  EXPECT_EQ(ops(folded("c = f32[1]{3e38}\ni = Cast(c) {to=7}\ny = Sign(i)\nreturn y")),
            (std::vector<std::string>{"Constant", "Cast", "Sign"}));
  EXPECT_EQ(ops(folded("c = f32[1]{3}\ni = Cast(c) {to=7}\ny = Sign(i)\nreturn y")),
            std::vector<std::string>{"Constant"});
}

}  // namespace
}  // namespace isomer
