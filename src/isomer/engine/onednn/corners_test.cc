// Corner cases in which random graphs (tests/differential) once found bugs of the built-in runtime.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isomer/engine/onednn/testing.h"
#include "isomer/onnx/model_testing.h"

namespace isomer::onednn {
namespace {

TEST(Corners, ConcatenatesWhatDoesNotLieInARowWithinWhatDoes) {
  expect_as_reference(R"(
    input a: f32[2,2]
    input b: f32[2,4]
    input c: f32[4,6]
    ab = Concat(a, b) {axis=1}
    y = Concat(c, ab) {axis=0}
    return y
  )");
}

TEST(Corners, ConcatenatesAlongAnAxisThatIsCountedFromTheBack) {
  expect_as_reference(R"(
    input a: f32[2,2]
    input b: f32[2,4]
    c = Tanh(a)
    y = Concat(c, b) {axis=-1}
    return y
  )");
}

TEST(Corners, CopiesNothingForAConcatenationOfOneOperand) {
  expect_as_reference("input x: f32[2,4]\ny = Concat(x) {axis=1}\nreturn y");
  const auto kernels = [](const char* passes_on, const char* last) {
    const Graph graph = graph_of(fmt::format(R"(
      input a: f32[1,4]
      input b: f32[1,6]
      e = Exp(a)
      c = {} {{axis=0}}
      d = Sin(c)
      y = Concat(c, b, d) {{axis=1}}
      z = {}
      return z
    )",
                                             passes_on, last));
    expect_as_reference(graph, inputs_of(graph));
    return plan_of(graph, inputs_of(graph)).kernels().size();
  };
  EXPECT_EQ(kernels("Concat(e)", "Concat(y) {axis=1}"), kernels("Softmax(e)", "Tanh(y)") - 2);
}

TEST(Corners, ReducesTheOnlyPixelOfEachOfManyImages) {
  expect_as_reference("input x: f32[2,4,1]\ny = ReduceMean(x) {axes=[2], keepdims=0}\nreturn y");
  expect_as_reference("input x: f32[3,4,1,1]\ny = ReduceMax(x) {axes=[2,3], keepdims=1}\nreturn y");
}

TEST(Corners, OverwritesNothingOfWhichItReadsAnotherPart) {
  const Graph graph = graph_of(R"(
    input c: bool[2,5,5]
    input x: f32[5]
    w = Where(c, x, x)
    first, second = Split(w) {axis=0, split=[1,1]}
    a = Transpose(w) {perm=[0,2,1]}
    b = Transpose(first) {perm=[0,2,1]}
    y = Mul(a, b)
    return y
  )");
  expect_as_reference(graph, inputs_of(graph));
}

TEST(Corners, WritesASingleRowForATranspose) {
  expect_as_reference(R"(
    input x: f32[2,3,1,1]
    input y: f32[2,1,1,3]
    m = MatMul(x, y)
    t = Transpose(m) {perm=[1,0,3,2]}
    return t
  )");
}

TEST(Corners, ReadsWhatHasNoBatchRowMajor) {
  for (const int channels : {3, 16}) {
    const std::string made = fmt::format("u = f32[{0},16,1,1]{{seed 1}}\na = Conv(x, u)\n", channels);
    expect_as_reference("input x: f32[1,16,2,3]\n" + made +
                        fmt::format("input r: f32[{},2,3]\nc = Tanh(a)\ny = Mul(c, r)\nreturn y", channels));
    expect_as_reference(
        fmt::format("input x: f32[4,16,3]\ninput r: f32[1,4,{0},3]\nu = f32[{0},16,1]{{seed 1}}\nc = Conv(x, u) "
                    "{{strides=[1], dilations=[1], pads=[0,0]}}\ny = Add(r, c)\nreturn y",
                    channels));
  }
}

// Like the heads of attention over a single token.
TEST(Corners, ScalesATransposeThatMovesAxesOfExtentOneAlone) {
  for (const char* scale : {"f32[]", "f32[1,1,1,1]", "f32[4]"}) {
    expect_as_reference(fmt::format(
        "input x: f32[1,1,2,4]\ninput s: {}\nt = Transpose(x) {{perm=[0,2,1,3]}}\ny = Mul(t, s)\nreturn y", scale));
    expect_as_reference(
        fmt::format("input x: f32[1,2,2,4]\ninput s: {}\nt = Slice(x) {{axes=[1], starts=[1], ends=[2], steps=[1]}}\n"
                    "u = Transpose(t) {{perm=[0,2,1,3]}}\ny = Mul(u, s)\nreturn y",
                    scale));
  }
}

// oneDNN takes the rows to overlap.
TEST(Corners, TakesEverySecondElementOfOddExtents) {
  expect_as_reference(
      "input x: f32[2,16,7,57]\ns = Slice(x) {axes=[2,3], starts=[0,0], ends=[7,57], steps=[2,2]}\ny = Relu(s)\n"
      "return s, y");
}

TEST(Corners, PoolsOfSingleElementsAreViews) {
  for (const char* pool : {"AveragePool", "MaxPool"}) {
    for (const char* before : {"a = Relu(x)", "a = Sigmoid(x)"}) {
      const auto kernels = expect_as_reference(fmt::format(R"(
        input x: f32[2,16,7,8]
        {0}
        p = {1}(a) {{kernel_shape=[1,1], strides=[2,3]}}
        q = {1}(a) {{kernel_shape=[1,1], strides=[3,1], pads=[0,0,2,0]}}
        r = {1}(a) {{kernel_shape=[1,1], strides=[3,1], ceil_mode=1}}
        j = Concat(p, p) {{axis=1}}
        y = Sigmoid(p)
        return p, q, r, j, y)",
                                                           before, pool));
      const auto of_pool = [&](const PlanKernel& kernel) { return kernel.name == pool; };
      EXPECT_EQ(std::ranges::count_if(kernels, of_pool), 2) << "those with pads or the ceiling";
    }
  }
}

TEST(Corners, WritesTheOnlyRowOfProductsForATranspose) {
  expect_as_reference(R"(
    input a: f32[1,1,1]
    input b: f32[4,1,4]
    c = MatMul(a, b)
    t = Transpose(c) {perm=[0,2,1]}
    y = Abs(t)
    return y, t
  )");
}

TEST(Corners, KeepsTheSlopeOfALeakyReluBehindANormalization) {
  expect_as_reference(R"(
    input x: f32[2,5,3,3]
    s = f32[5]{seed 1}
    b = f32[5]{seed 2}
    m = f32[5]{seed 3}
    v = f32[5]{1.0,2.0,0.5,1.5,3.0}
    n = BatchNormalization(x, s, b, m, v)
    y = LeakyRelu(n) {alpha=0.25}
    return y
  )");
}

TEST(Corners, AddsToAConvolutionWhatHasNoBatchOrIsConstant) {
  for (const char* added :
       {"input r: f32[5,3]", "r = f32[5,3]{seed 3}", "input r: f32[1,5,3]", "r = f32[1,5,3]{seed 3}"})
    for (const int channels : {4, 16})
      expect_as_reference(fmt::format(R"(
        input x: f32[1,{0},3]
        w = f32[5,{0},1]{{seed 1}}
        b = f32[5]{{seed 2}}
        {1}
        c = Conv(x, w, b) {{dilations=[1], pads=[0,0], strides=[1]}}
        y = Add(c, r)
        return y
      )",
                                      channels, added));
}

TEST(Corners, AddsToWindowsThatSeeNothingButPadding) {
  expect_as_reference(R"(
    input x: f32[3,1,1,4]
    w = f32[2,1,1,2]{seed 1}
    b = f32[2]{seed 2}
    input r: f32[3,2,1,2]
    c = Conv(x, w, b) {dilations=[1,2], pads=[1,1,0,0], strides=[2,2]}
    y = Add(r, c)
    return y
  )");
}

TEST(Corners, AddsToOneChannelWhatItReads) {
  for (const char* end : {"y = Add(r, c)\nreturn y", "s = Add(r, c)\ny = Add(s, t)\nreturn y"})
    expect_as_reference(R"(
      input x: f32[3,2,2,2]
      w = f32[1,2,2,1]{seed 1}
      input r: f32[3,1,3,3]
      input t: f32[3,1,3,3]
      c = Conv(x, w) {pads=[1,0,1,1], dilations=[1,2]}
      )" + std::string(end));
}

TEST(Corners, PadsChannelsInTheirBlocksOnlyIfEachStaysInItsPlace) {
  const auto plan_with = [](const char* pads) {
    return expect_as_reference(fmt::format(R"(
      input x: f32[1,32,6,6]
      w = f32[32,32,3,3]{{seed 1}}
      c = Conv(x, w) {{pads=[1,1,1,1]}}
      y = Pad(c) {{mode="constant", pads={}}}
      return y)",
                                           pads));
  };
  EXPECT_EQ(references(plan_with("[0,0,1,1,0,0,1,1]")), 0);
  EXPECT_EQ(references(plan_with("[0,-1,0,0,0,1,0,0]")), 0);
}

TEST(Corners, PadsInnermostChannelsWhereTheyAre) {
  for (const char* pads : {"[0,0,1,2,0,0,0,3]", "[1,0,0,-1,0,0,-2,2]", "[0,0,-5,0,0,0,0,0]"})
    for (const char* value : {"", ", constant_value=f32[]{2}"}) {
      const auto kernels = expect_as_reference(fmt::format(R"(
        input x: f32[2,6,7,20]
        t = Transpose(x) {{perm=[0,3,1,2]}}
        p = Pad(t) {{mode="constant", pads={}{}}}
        y = Transpose(p) {{perm=[0,2,3,1]}}
        return y)",
                                                           pads, value));
      EXPECT_EQ(count_of(kernels, "reorder"), 0) << pads;
    }
}

TEST(Corners, ComputesFunctionsOfSumsInSmallBlocksOfChannels) {
  for (const int channels : {4, 8, 16})
    for (const char* const op : {"Add", "Sub", "Mul", "Div"})
      expect_as_reference(fmt::format(R"(
        input x: f32[1,3,7,7]
        input t: f32[1,{0},7,7]
        u = Abs(t)
        one = f32[]{{1}}
        r = Add(u, one)
        w = f32[{0},1,1,1]{{seed 1}}
        c = Conv(x, w) {{group=3}}
        s = {1}(c, r)
        z = Relu(s)
        return z, c)",
                                      3 * channels, op));
}

TEST(Corners, SelectsEverySecondChannelOfBlocks) {
  expect_as_reference(R"(
    input x: f32[1,16,6,6]
    w = f32[32,16,1,1]{seed 1}
    c = Conv(x, w)
    y = Slice(c) {axes=[1], starts=[0], ends=[32], steps=[2]}
    return y
  )");
}

TEST(Corners, AddsAValueTwiceToAProduct) {
  for (const int rows : {1, 200})
    expect_as_reference(fmt::format(R"(
      input a: f32[{0},33]
      input t: f32[{0},70]
      w = f32[33,70]{{seed 1}}
      x = Relu(t)
      m = MatMul(a, w)
      s = Add(m, x)
      y = Add(s, x)
      return y)",
                                    rows));
}

TEST(Corners, AddsToAConvolutionWithDilatedWindowsOfPaddingOnly) {
  for (const char* const sum : {"y = Add(c, r)", "d = Relu(c)\ny = Add(d, r)", "s = Add(c, r)\ny = Tanh(s)"})
    expect_as_reference(R"(
      input x: f32[2,3,1,9]
      input r: f32[2,5,1,7]
      w = f32[5,3,2,3]{seed 1}
      b = f32[5]{seed 2}
      c = Conv(x, w, b) {dilations=[2,1], pads=[1,0,1,0]}
      )" + std::string(sum) +
                        "\nreturn y");
}

TEST(Corners, TransposesAProductWithBroadcastSums) {
  for (const char* const shape : {"32", "1,4,1,1", "2,1,1,32", "2,1,8,32"})
    for (const char* const sum : {"y = Add(m, r)", "f = Relu(m)\ny = Add(f, r)", "f = Add(m, v)\ny = Add(f, r)"})
      expect_as_reference(fmt::format(R"(
        input a: f32[2,4,8,16]
        input b: f32[2,4,16,32]
        input r: f32[{}]
        input v: f32[32]
        m = MatMul(a, b)
        {}
        z = Transpose(y) {{perm=[0,2,1,3]}}
        return z, v)",
                                      shape, sum));
}

TEST(Corners, ClipsToTheMaximumIfTheMinimumIsLarger) {
  expect_as_reference(R"(
    input x: f32[3,4]
    w = f32[4,5]{seed 1}
    m = MatMul(x, w)
    y = Clip(m) {min=f32[]{5}, max=f32[]{-6}}
    return y
  )");
}

TEST(Corners, MultipliesRowsWhoseNumberDependsOnData) {
  test::ProtoModel model;
  model.input("x", {"9", "3"});
  test::ProtoModel::describe(model.graph().add_input(), "c", {"9"}, onnx::TensorProto::BOOL);
  model.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  auto* axis = model.node("Compress", {"x", "c"}, {"s"})->add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  model.node("MatMul", {"s", "w"}, {"y"});
  test::ProtoModel::describe(model.graph().add_value_info(), "s", {"K", "3"});
  model.output("y", {"K", "2"});
  const auto read = test::load(model);
  ASSERT_TRUE(read) << read.error().message;
  expect_as_reference(read->graph, inputs_of(read->graph));
}

}  // namespace
}  // namespace isomer::onednn
