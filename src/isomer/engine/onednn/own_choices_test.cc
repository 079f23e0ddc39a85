// Tests plans that choose our own kernels where oneDNN has kernels too.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <tuple>

#include "isomer/engine/onednn/testing.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

using testing::Each;
using testing::EndsWith;
using testing::Not;

/// Returns the implementations of the kernels whose names begin with `name`.
std::vector<std::string> chosen(const std::string& text, const std::string& name) {
  std::vector<std::string> out;
  for (const PlanKernel& kernel : expect_own_as_reference(text))
    if (kernel.name.starts_with(name)) out.push_back(kernel.implementation);
  return out;
}

TEST(OwnChoices, ProductsOfAFewRowsWithPosts) {
  const auto kernels = chosen(R"(
    input x: f32[3,40]
    input r: f32[3,70]
    w = f32[40,70]{seed 1}
    b = f32[70]{seed 2}
    v = f32[70,70]{seed 3}
    a = MatMul(x, w)
    c = Add(a, b)
    d = Tanh(c)
    e = MatMul(d, v)
    f = Add(e, r)
    g = Sigmoid(f)
    h = MatMul(g, v)
    i = Add(h, g)
    j = Relu(i)
    k = MatMul(j, v)
    l = Add(k, d)
    return g, l)",
                              "MatMul");
  ASSERT_EQ(kernels.size(), 4U);
  EXPECT_THAT(kernels, Each(EndsWith(":rows")));
}

TEST(OwnChoices, ProductsOfTransposedAndOtherWeights) {
  const auto kernels = chosen(R"(
    input x: f32[2,3,40]
    w = f32[40,40]{seed 1}
    c = f32[40]{seed 2}
    a = MatMul(x, w)
    b = Reshape(a) {shape=[6,40]}
    d = Gemm(b, w, c) {alpha=1, beta=1, transA=0, transB=1}
    e = Gemm(d, w, c) {alpha=1, beta=1, transA=0, transB=0}
    f = Concat(d, e) {axis=0}
    return f)",
                              "");
  EXPECT_EQ(std::ranges::count_if(kernels, [](const std::string& name) { return name.ends_with(":rows"); }), 3);
}

// Of row-major and transposed weights, with posts, leading axes, and an odd number of rows; the same weights twice.
TEST(OwnChoices, ProductsByStrassensAlgorithm) {
  const auto kernels = chosen(R"(
    input x: f32[3,11,256]
    input r: f32[33,256]
    w = f32[256,256]{seed 1}
    b = f32[256]{seed 2}
    a = MatMul(x, w)
    c = Add(a, b)
    d = Tanh(c)
    s = Reshape(d) {shape=[33,256]}
    e = Gemm(s, w, b) {alpha=1, beta=1, transA=0, transB=1}
    f = Add(e, r)
    g = Gemm(f, w) {alpha=1, beta=1, transA=0, transB=0}
    h = Add(g, f)
    i = Relu(h)
    return i, f)",
                              "");
  EXPECT_EQ(std::ranges::count_if(kernels, [](const std::string& name) { return name.ends_with(":strassen"); }), 3);
}

TEST(OwnChoices, NotByStrassensAlgorithmOfFewRowsOrOddExtents) {
  for (const char* text : {"input x: f32[31,256]\nw = f32[256,256]{seed 1}\na = MatMul(x, w)\nreturn a",
                           "input x: f32[64,255]\nw = f32[255,256]{seed 1}\na = MatMul(x, w)\nreturn a",
                           "input x: f32[64,256]\nw = f32[256,250]{seed 1}\na = MatMul(x, w)\nreturn a",
                           "input x: f32[64,256]\ninput w: f32[256,256]\na = MatMul(x, w)\nreturn a"})
    EXPECT_THAT(chosen(text, "MatMul"), Each(Not(EndsWith(":strassen")))) << text;
}

TEST(OwnChoices, NotOfManyRowsOrOtherFunctions) {
  for (const char* text : {"input x: f32[9,40]\nw = f32[40,64]{seed 1}\na = MatMul(x, w)\nreturn a",
                           "input x: f32[2,40]\nw = f32[40,64]{seed 1}\na = MatMul(x, w)\nb = Softplus(a)\nreturn b"}) {
    const auto kernels = chosen(text, "MatMul");
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_THAT(kernels[0], Not(EndsWith(":rows")));
  }
}

// Whatever their layouts: row-major, transposed, or parts of others.
TEST(OwnChoices, ProductsOfTwoComputedMatrices) {
  for (const char* text :
       {"input x: f32[20,24]\ninput w: f32[24,40]\na = MatMul(x, w)\nreturn a",
        "input x: f32[24,20]\ninput w: f32[40,24]\nt = Transpose(x) {perm=[1,0]}\nu = Transpose(w) {perm=[1,0]}\n"
        "a = MatMul(t, u)\nreturn a",
        "input x: f32[3,7,24]\ninput w: f32[24,40]\ninput b: f32[40]\ninput r: f32[3,7,40]\na = MatMul(x, w)\n"
        "c = Add(a, b)\nd = Relu(c)\ne = Add(d, r)\nreturn e, d",
        "input x: f32[3,7,24]\ninput w: f32[24,40]\ninput b: f32[40]\ninput r: f32[3,7,40]\na = MatMul(x, w)\n"
        "c = Add(a, b)\nd = Add(c, r)\ne = Tanh(d)\nreturn e",
        "input x: f32[20,40]\ninput w: f32[24,80]\ns, t = Split(x) {axis=1, split=[16,24]}\n"
        "u, v = Split(w) {axis=1, split=[40,40]}\na = MatMul(t, u)\nb = MatMul(t, v)\nreturn a, b, s"}) {
    const auto kernels = chosen(text, "MatMul");
    ASSERT_FALSE(kernels.empty()) << text;
    EXPECT_THAT(kernels, Each(EndsWith(":product"))) << text;
  }
}

// Also if oneDNN's kernel is chosen, which then adds a value that another kernel has scaled.
TEST(OwnChoices, ProductsWithMomentum) {
  const std::string text =
      "input x: f32[24,20]\ninput w: f32[24,40]\ninput m: f32[20,40]\nc = f32[]{0.9}\nt = Transpose(x) {perm=[1,0]}\n"
      "v = Mul(m, c)\na = MatMul(t, w)\nb = Add(v, a)\nreturn b";
  EXPECT_THAT(chosen(text, ""), testing::ElementsAre(EndsWith(":product")));
  EXPECT_EQ(count_of(expect_as_reference(text), "scale"), 1);
}

TEST(OwnChoices, MomentumInAnyForm) {
  const std::string operands = "input x: f32[20,24]\ninput w: f32[24,40]\ninput m: f32[20,40]\n";
  for (const std::string& text :
       {operands + "c = f32[]{0}\nv = Mul(c, m)\na = MatMul(x, w)\nb = Add(a, v)\nreturn b",
        operands + "c = f32[1,1]{-0.5}\nv = Mul(m, c)\na = MatMul(x, w)\nb = Add(v, a)\nd = Relu(b)\nreturn d, b",
        // Not absorbed: other readers, an output, another factor, another product.
        operands + "c = f32[]{0.9}\nv = Mul(m, c)\na = MatMul(x, w)\nb = Add(v, a)\nreturn b, v",
        operands + "c = f32[]{0.9}\nv = Mul(m, c)\na = MatMul(x, w)\nb = Add(v, a)\ne = Exp(v)\nreturn b, e",
        operands + "input c: f32[20,40]\nv = Mul(m, c)\na = MatMul(x, w)\nb = Add(v, a)\nreturn b",
        operands + "input q: f32[20,40]\nc = f32[]{0.9}\nn = Add(m, q)\nv = Mul(n, c)\na = MatMul(x, w)\n"
                   "b = Add(v, a)\nreturn b",
        operands + "c = f32[]{0.9}\nn = MatMul(x, w)\nv = Mul(n, c)\na = MatMul(x, w)\nb = Add(v, a)\nd = Add(b, m)\n"
                   "return d",
        std::string("input x: f32[24]\ninput w: f32[24,40]\ninput m: f32[40]\nc = f32[]{0.9}\nv = Mul(m, c)\n"
                    "a = MatMul(x, w)\nb = Add(v, a)\nreturn b"),
        std::string("input x: f32[20,0]\ninput w: f32[0,40]\ninput m: f32[20,40]\nc = f32[]{0.9}\nv = Mul(m, c)\n"
                    "a = MatMul(x, w)\nb = Add(v, a)\nreturn b"),
        std::string("input x: f32[2,20,24]\ninput w: f32[24,40]\ninput m: f32[2,20,40]\nc = f32[]{0.9}\n"
                    "v = Mul(m, c)\na = MatMul(x, w)\nb = Add(v, a)\nreturn b"),
        std::string("input x: f32[2,20,24]\ninput w: f32[2,24,40]\ninput m: f32[2,20,40]\nc = f32[]{0.9}\n"
                    "v = Mul(m, c)\na = MatMul(x, w)\nb = Add(v, a)\nreturn b")}) {
    SCOPED_TRACE(text);
    expect_as_reference(text);
    expect_own_as_reference(text);
    expect_as_reference(text, {.tune = false, .dtype = check_dtype(DType::BFloat16) ? DType::BFloat16 : DType::Float});
  }
}

// A gradient to which each step adds a product has one buffer, with leading axes too.
TEST(OwnChoices, ProductsAreAddedInPlace) {
  for (const auto& [rows, last] : {std::pair("256", 1), std::pair("2,128", 2)})
    for (const int threads : {1, 2}) {
      const Graph graph = graph_of(fmt::format(R"(
        input x: f32[{},8]
        input g: f32[8,512]
        a = MatMul(x, g)
        b = Exp(x)
        c = MatMul(b, g)
        d = Add(a, c)
        e = Exp(b)
        f = MatMul(e, g)
        h = Add(f, d)
        y = ReduceMax(h) {{axes=[{}], keepdims=0}}
        return y)",
                                               rows, last));
      SCOPED_TRACE(fmt::format("{}, {}", rows, threads));
      const auto own = std::make_shared<Preferring>("own:");
      expect_as_reference(graph, inputs_of(graph), {.threads = threads}, own);
      std::vector<TensorType> types;
      for (const ValueId input : graph.inputs()) types.push_back(graph.type(input));
      const auto plan = Plan::make(graph, types, {.threads = threads}, own);
      ASSERT_TRUE(plan.has_value()) << plan.error().message;
      EXPECT_LT(plan->memory().arena, 1.5 * 256 * 512 * sizeof(float));
    }
}

// Not if it is read later, or by the product itself, or where partial sums are stored.
TEST(OwnChoices, ProductsAreNotAddedInPlaceOfWhatIsRead) {
  for (const char* text :
       {"input x: f32[40,40]\nw = Exp(x)\na = MatMul(x, w)\nb = Add(a, w)\nc = MatMul(b, x)\nd = Add(c, b)\n"
        "e = Mul(b, d)\nreturn e",
        "input x: f32[40,40]\nw = Exp(x)\na = MatMul(w, x)\nb = Add(w, a)\nc = Tanh(b)\nreturn c",
        "input x: f32[40,40]\nw = Exp(x)\na = MatMul(w, w)\nb = Add(a, w)\nc = Tanh(b)\nreturn c",
        "input x: f32[40,900]\ninput v: f32[900,40]\ninput m: f32[40,40]\nw = Exp(m)\na = MatMul(x, v)\n"
        "b = Add(a, w)\nc = Tanh(b)\nreturn c",
        "input x: f32[24,8]\ninput v: f32[8,40]\ninput m: f32[40]\nw = Exp(m)\na = MatMul(x, v)\nb = Add(a, w)\n"
        "c = Tanh(b)\nreturn c",
        "input x: f32[24,8]\ninput v: f32[8,40]\ninput m: f32[24,40]\nw = Exp(m)\nu = Exp(w)\na = MatMul(x, v)\n"
        "b = Add(a, w)\nc = Add(b, u)\nd = Tanh(c)\nreturn d",
        "input x: f32[24,8]\ninput v: f32[8,40]\ninput m: f32[24,40]\nw = Exp(m)\na = MatMul(x, v)\nb = Add(a, w)\n"
        "c = Add(b, w)\nd = Tanh(c)\nreturn d"}) {
    SCOPED_TRACE(text);
    expect_own_as_reference(text);
  }
}

TEST(OwnChoices, ProductsOfAFewComputedRowsByARowMajorMatrix) {
  EXPECT_THAT(chosen("input x: f32[8,24]\ninput w: f32[24,40]\na = MatMul(x, w)\nreturn a", "MatMul"),
              Contains(EndsWith(":product")));
}

TEST(OwnChoices, NotProductsOfAFewRowsByATransposedMatrixOrOfFewColumnsOrOfManyMatrices) {
  for (const char* text : {"input x: f32[8,24]\ninput w: f32[40,24]\nt = Transpose(w) {perm=[1,0]}\na = MatMul(x, t)\n"
                           "return a",
                           "input x: f32[20,24]\ninput w: f32[24,8]\na = MatMul(x, w)\nreturn a",
                           "input x: f32[2,20,24]\ninput w: f32[2,24,40]\na = MatMul(x, w)\nreturn a"})
    EXPECT_THAT(chosen(text, "MatMul"), Each(Not(EndsWith(":product")))) << text;
}

// OneDNN prefers layouts other than row-major ones with AVX-512 only.
TEST(Choices, ComputedFactorsInAnotherLayout) {
  const auto reorders = [](const std::string& text) {
    const Graph graph = graph_of(text);
    const auto tuner = std::make_shared<Preferring>(" change");
    return count_of(expect_as_reference(graph, inputs_of(graph), {}, tuner), "reorder");
  };
  const int one = vector_width() == VectorWidth::Avx512 ? 1 : 0;
  EXPECT_EQ(reorders("input x: f32[5,24]\ninput w: f32[24,40]\na = MatMul(x, w)\nreturn a"), one);
  EXPECT_EQ(reorders("input x: f32[2,3,24]\ninput w: f32[24,40]\ninput b: f32[40]\na = MatMul(x, w)\nc = Add(a, b)\n"
                     "d = Relu(c)\nreturn d"),
            one)
      << "rows of all matrices";
  EXPECT_EQ(reorders("input x: f32[24,5]\ninput w: f32[40,24]\nt = Transpose(x) {perm=[1,0]}\n"
                     "u = Transpose(w) {perm=[1,0]}\na = MatMul(t, u)\nreturn a"),
            1)
      << "row-major";
  EXPECT_EQ(reorders("input x: f32[2,5,24]\ninput w: f32[2,24,40]\na = MatMul(x, w)\nreturn a"), 0) << "no matrix";
}

/// Finds a change of the layout of a factor slow, but products by the changed factor fast.
class SlowChange : public MadeUpTimes {
  double made_up(const Contender& contender) override {
    if (contender.key.find(" change ") != std::string::npos) return 90;
    return contender.key.find(" changed") != std::string::npos ? 20 : 100;
  }
};

// Only products by the factor share it, not its other readers. OneDNN prefers other layouts with AVX-512 only.
TEST(Choices, OnlyProductsShareTheTimeOfAChange) {
  const int one = vector_width() == VectorWidth::Avx512 ? 1 : 0;
  const auto reorders = [](const std::string& text) {
    const Graph graph = graph_of(text);
    return count_of(expect_as_reference(graph, inputs_of(graph), {}, std::make_shared<SlowChange>()), "reorder");
  };
  const std::string product = "input x: f32[5,24]\ninput w: f32[24,40]\na = MatMul(x, w)\n";
  EXPECT_EQ(reorders(product + "b = Exp(w)\nc = Tanh(w)\nd = Relu(w)\nreturn a, b, c, d"), 0);
  EXPECT_EQ(reorders(product + "input y: f32[7,24]\nb = MatMul(y, w)\nreturn a, b"), one);
}

TEST(OwnChoices, LstmsOfAFewSequences) {
  for (const int64_t batch : {1, 8, 9}) {
    const auto kernels = chosen(fmt::format("input x: f32[3,{0},20]\ninput h: f32[1,{0},18]\n"
                                            "w = f32[1,72,20]{{seed 1}}\nr = f32[1,72,18]{{seed 2}}\n"
                                            "y, yh, yc = LSTM(x, w, r, _, _, h)\nreturn y, yh, yc",
                                            batch),
                                "LSTM");
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].ends_with(":lstm"), batch <= 8) << batch;
  }
}

// Row-major, whatever the layout of the result.
TEST(OwnChoices, WinogradDoesNotAddValuesOfLowerRank) {
  for (const char* added : {"input r: f32[32,9,10]", "r = f32[32,9,10]{seed 3}", "input r: f32[1,32,1,1]"})
    chosen(fmt::format("input x: f32[1,32,9,10]\n{}\nw = f32[32,32,3,3]{{seed 1}}\na = Conv(x, w) {{pads=[1,1,1,1]}}\n"
                       "y = Add(a, r)\nreturn y",
                       added),
           "Conv");
}

TEST(OwnChoices, WinogradInPlaceAndInConcatenations) {
  const auto kernels = chosen(R"(
    input x: f32[1,32,9,10]
    w = f32[32,32,3,3]{seed 1}
    a = Conv(x, w) {pads=[1,1,1,1]}
    b = Conv(a, w) {pads=[1,1,1,1]}
    c = Sigmoid(a)
    d = Add(b, c)
    e = Conv(d, w) {pads=[1,1,1,1]}
    f = Concat(d, e) {axis=1}
    g = Relu(f)
    return g)",
                              "Conv");
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_THAT(kernels, Each(EndsWith(":winograd")));
}

TEST(OwnChoices, WinogradWithPosts) {
  const auto kernels = chosen(R"(
    input x: f32[2,32,9,10]
    w = f32[32,32,3,3]{seed 1}
    b = f32[32]{seed 2}
    a = Conv(x, w, b) {pads=[1,1,1,1]}
    c = Sigmoid(a)
    d = Mul(a, c)
    e = Conv(d, w) {pads=[1,1,1,1]}
    f = Add(e, d)
    g = LeakyRelu(f) {alpha=0.1}
    h = Conv(g, w) {pads=[1,1,1,1]}
    i = Tanh(h)
    j = Concat(i, g) {axis=1}
    return j)",
                              "Conv");
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_THAT(kernels, Each(EndsWith(":winograd")));
}

// Of images with one axis and three, too.
TEST(OwnChoices, ConvolutionsByStrassensAlgorithm) {
  for (const auto& [extents, window] : {std::pair("6,7", "1,1"), std::pair("40", "1"), std::pair("3,4,3", "1,1,1")}) {
    if (std::string(window) == "1,1,1" && vector_width() == VectorWidth::Sse) continue;  // oneDNN has no blocks there
    const std::string zeros = window[1] == 0 ? "0,0" : window[3] == 0 ? "0,0,0,0" : "0,0,0,0,0,0";
    const auto kernels =
        chosen(fmt::format("input x: f32[2,256,{0}]\nw = f32[256,256,{1}]{{seed 1}}\nb = f32[256]{{seed 2}}\n"
                           "y = Softsign(x)\na = Conv(y, w, b) {{strides=[{1}], dilations=[{1}], pads=[{2}]}}\n"
                           "c = Relu(a)\nd = Conv(y, w) {{strides=[{1}], dilations=[{1}], pads=[{2}]}}\n"
                           "e = Add(d, y)\nf = Concat(c, e) {{axis=1}}\nreturn f",
                           extents, window, zeros),
               "Conv");
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_THAT(kernels, Each(EndsWith(":strassen"))) << extents;
  }
}

TEST(OwnChoices, NotByStrassensAlgorithmOfOtherConvolutions) {
  for (const char* text :
       {"input x: f32[1,256,7,7]\nw = f32[256,256,1,1]{seed 1}\na = Conv(x, w) {strides=[2,2]}\nreturn a",
        "input x: f32[1,256,7,7]\nw = f32[256,256,1,1]{seed 1}\na = Conv(x, w) {pads=[1,0,0,0]}\nreturn a",
        "input x: f32[1,256,7,7]\nw = f32[256,128,1,1]{seed 1}\na = Conv(x, w) {group=2}\nreturn a",
        "input x: f32[1,256,7,7]\ninput w: f32[256,256,1,1]\na = Conv(x, w)\nreturn a",
        "input x: f32[1,248,7,7]\nw = f32[256,248,1,1]{seed 1}\na = Conv(x, w)\nreturn a"})
    EXPECT_THAT(chosen(text, "Conv"), Each(Not(EndsWith(":strassen")))) << text;
}

// Of any padding, 3 and more included, which removes what windows add.
TEST(OwnChoices, WinogradOfTransposedConvolutions) {
  for (int64_t pad = 0; pad < 4; ++pad)
    for (const char* weights : {"w = f32[32,64,3,3]{seed 1}", "input w: f32[32,64,3,3]"}) {
      const auto kernels = chosen(fmt::format("input x: f32[2,32,9,10]\n{0}\nb = f32[64]{{seed 2}}\n"
                                              "v = f32[32,32,3,3]{{seed 3}}\na = Conv(x, v) {{pads=[1,1,1,1]}}\n"
                                              "c = ConvTranspose(a, w, b) {{pads=[{1},{1},{1},0], strides=[1,1], "
                                              "dilations=[1,1], output_padding=[0,0]}}\nreturn c",
                                              weights, pad),
                                  "ConvTranspose");
      EXPECT_THAT(kernels, testing::ElementsAre(EndsWith(":winograd"))) << pad;
    }
}

// Channels innermost; every window and stride, pads that all differ.
TEST(OwnChoices, DepthwiseConvolutions) {
  for (const int channels : {19, 32})
    for (const auto& [window, stride, pads] : {std::tuple(3, 1, "0,1,2,3"), std::tuple(5, 2, "3,2,0,1"),
                                               std::tuple(7, 1, "6,3,1,0"), std::tuple(3, 2, "1,0,0,2")}) {
      const auto kernels = chosen(fmt::format("input i: f32[2,15,14,{0}]\nx = Transpose(i) {{perm=[0,3,1,2]}}\nw = "
                                              "f32[{0},1,{1},{1}]{{seed 1}}\nb = f32[{0}]{{seed 2}}\n"
                                              "a = Conv(x, w, b) {{group={0}, strides=[{2},{2}], pads=[{3}]}}\n"
                                              "c = LeakyRelu(a) {{alpha=0.5}}\nreturn c",
                                              channels, window, stride, pads),
                                  "Conv");
      ASSERT_EQ(kernels.size(), 1U);
      EXPECT_THAT(kernels, Each(EndsWith(":depthwise"))) << channels << ", " << window;
    }
}

// Channels in blocks, with and without results that are computed twice, which must not take the place of the added
// value.
TEST(OwnChoices, DepthwiseInPlaceAndInConcatenations) {
  for (const int width : {14, 15}) {
    const auto kernels = chosen(fmt::format(R"(
      input x: f32[1,32,9,{}]
      w = f32[32,1,3,3]{{seed 1}}
      a = Conv(x, w) {{group=32, pads=[0,2,2,0]}}
      b = Conv(a, w) {{group=32, pads=[0,2,2,0]}}
      c = Sigmoid(a)
      d = Add(b, c)
      e = Conv(d, w) {{group=32, pads=[0,2,2,0]}}
      f = Concat(d, e) {{axis=1}}
      g = Relu(f)
      return g)",
                                            width),
                                "Conv");
    ASSERT_EQ(kernels.size(), 3U);
    EXPECT_THAT(kernels, Each(EndsWith(":depthwise")));
  }
}

TEST(OwnChoices, DepthwiseOfTransposedConvolutions) {
  for (const int window : {3, 5, 7})
    for (const char* pads : {"0,0,0,0", "1,0,2,1", "2,3,0,1", "3,1,4,2"})
      for (const char* weights : {"w = f32[24,1,{0},{0}]{{seed 1}}", "input w: f32[24,1,{0},{0}]"}) {
        const auto kernels = chosen(
            fmt::format("input x: f32[2,24,9,8]\n{}\na = ConvTranspose(x, w) {{group=24, pads=[{}], strides=[1,1], "
                        "dilations=[1,1], output_padding=[0,0]}}\nreturn a",
                        fmt::format(fmt::runtime(weights), window), pads),
            "Conv");
        EXPECT_THAT(kernels, testing::ElementsAre(EndsWith(":depthwise"))) << window << ", " << pads;
      }
}

TEST(OwnChoices, DepthwiseOfBothKindsWithTheSameWeights) {
  for (const char* weights : {"w = f32[24,1,3,3]{seed 1}", "input w: f32[24,1,3,3]"}) {
    const auto kernels =
        chosen(fmt::format("input x: f32[2,24,9,9]\n{}\na = Conv(x, w) {{group=24, pads=[1,1,1,1]}}\n"
                           "b = ConvTranspose(a, w) {{group=24, pads=[1,1,1,1], strides=[1,1], dilations=[1,1], "
                           "output_padding=[0,0]}}\nc = Add(b, x)\nreturn c",
                           weights),
               "Conv");
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_THAT(kernels, Each(EndsWith(":depthwise")));
  }
}

TEST(OwnChoices, NotOfOtherGroupsOrWindows) {
  const std::string image = "input x: f32[1,16,9,9]\n", volume = "input x: f32[1,16,9,9,9]\n";
  for (const std::string& text :
       {image + "w = f32[32,1,3,3]{seed 1}\na = Conv(x, w) {group=16}\nreturn a",
        image + "w = f32[16,2,3,3]{seed 1}\na = Conv(x, w) {group=8}\nreturn a",
        image + "w = f32[16,1,3,5]{seed 1}\na = Conv(x, w) {group=16}\nreturn a",
        image + "w = f32[16,1,4,4]{seed 1}\na = Conv(x, w) {group=16}\nreturn a",
        image + "w = f32[16,1,3,3]{seed 1}\na = Conv(x, w) {group=16, strides=[1,2]}\nreturn a",
        image + "w = f32[16,1,3,3]{seed 1}\na = Conv(x, w) {group=16, dilations=[2,2]}\nreturn a",
        std::string("input x: f32[1,3,9,9]\nw = f32[3,1,3,3]{seed 1}\na = Conv(x, w) {group=3}\nreturn a"),
        volume + "w = f32[16,1,3,3,3]{seed 1}\na = Conv(x, w) {group=16, strides=[1,1,1], pads=[0,0,0,0,0,0], " +
            "dilations=[1,1,1]}\nreturn a"})
    EXPECT_THAT(chosen(text, "Conv"), Each(Not(EndsWith(":depthwise")))) << text;
}

TEST(OwnChoices, WinogradOfBothKindsWithTheSameWeights) {
  for (const char* weights : {"w = f32[32,32,3,3]{seed 1}", "input w: f32[32,32,3,3]"}) {
    const auto kernels = chosen(fmt::format("input x: f32[1,32,9,10]\n{}\na = Conv(x, w) {{pads=[1,1,1,1]}}\n"
                                            "b = ConvTranspose(a, w) {{pads=[1,1,1,1], strides=[1,1], dilations=[1,1], "
                                            "output_padding=[0,0]}}\nc = Conv(b, w)\nreturn c",
                                            weights),
                                "Conv");
    EXPECT_EQ(kernels.size(), 3U);
    EXPECT_THAT(kernels, Each(EndsWith(":winograd")));
  }
}

}  // namespace
}  // namespace isomer::onednn
