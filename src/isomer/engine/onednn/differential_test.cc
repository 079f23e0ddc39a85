// Compares every operator family that has kernels of oneDNN with the reference executor, on random shapes.

#include <fmt/ranges.h>

#include <set>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

std::string list(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ",")); }

struct Draw {
  Rng rng;
  explicit Draw(uint64_t seed) : rng(seed) {}
  int64_t of(std::initializer_list<int64_t> values) { return *(values.begin() + rng.below(values.size())); }
  int64_t between(int64_t a, int64_t b) { return rng.between(a, b); }
  bool coin() { return rng.below(2) == 0; }
};

/// In bf16 if the processor has it; else plans in f32 once more.
const PlanOptions kBf16 = {.tune = false, .dtype = check_dtype(DType::BFloat16) ? DType::BFloat16 : DType::Float};

class Differential : public testing::TestWithParam<int> {};

TEST_P(Differential, Convolution) {
  Draw draw(static_cast<uint64_t>(GetParam()));
  const size_t spatial = static_cast<size_t>(draw.of({1, 2, 2, 2, 3}));
  const int64_t group = draw.of({1, 1, 2, 3, 16});
  const int64_t per_group_in = draw.of({1, 2, 5, 16});
  const int64_t per_group_out = draw.of({1, 3, 8, 16});
  std::vector<int64_t> x = {draw.of({1, 2, 3}), group * per_group_in};
  std::vector<int64_t> w = {group * per_group_out, per_group_in};
  std::vector<int64_t> strides, dilations, begin, end;
  for (size_t i = 0; i < spatial; ++i) {
    w.push_back(draw.of({1, 2, 3, 5}));
    strides.push_back(draw.between(1, 3));
    dilations.push_back(draw.between(1, 2));
    begin.push_back(draw.between(0, 2));
    end.push_back(draw.between(0, 2));
    x.push_back((w.back() - 1) * dilations.back() + draw.between(1, spatial == 3 ? 6 : 19));
  }
  std::vector<int64_t> pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  const char* after[] = {"Relu(c)", "Sigmoid(c)", "Clip(c) {min=f32[]{-0.5}, max=f32[]{0.75}}", "Add(c, r)",
                         "Identity(c)"};
  const std::string tail = after[draw.rng.below(5)];
  std::string text =
      fmt::format("input x: f32{}\nw = f32{}{{seed 3}}\nb = f32[{}]{{seed 4}}\n", list(x), list(w), w[0]);
  text += fmt::format("c = Conv(x, w{}) {{strides={}, dilations={}, pads={}, group={}}}\n", draw.coin() ? ", b" : "",
                      list(strides), list(dilations), list(pads), group);
  if (tail.starts_with("Add")) text += "r = Tanh(c)\n";
  text += "y = " + tail + "\nz = Relu(y)\nreturn y, z";
  expect_as_reference(text);
  expect_own_as_reference(text);
  expect_as_reference(text, kBf16);
}

// OneDNN blocks the channels of such groups by 4.
TEST_P(Differential, SmallGroups) {
  Draw draw(static_cast<uint64_t>(1900 + GetParam()));
  const int64_t group = draw.of({2, 3, 8}), in = draw.of({4, 4, 2, 8}), out = draw.of({4, 4, 8, 16});
  const int64_t batch = draw.between(1, 2), side = draw.between(1, 9), channels = group * out;
  const char* after[] = {"d = Sub(c, s)\n",
                         "d = Div(c, s)\n",
                         "e = Sub(c, s)\nf = Mul(e, c)\nd = Tanh(f)\n",
                         "e = Add(c, v)\nd = Tanh(e)\n",
                         "e = Mul(c, c)\nd = ReduceSum(e) {axes=[0,2,3], keepdims=0}\n",
                         "d = ReduceMean(c) {axes=[0,2,3], keepdims=1}\n"};
  const std::string text = fmt::format(
      "input x: f32[{0},{1},{2},{2}]\ninput t: f32[{3},1,1]\ninput v: f32[{0},{3},{2},{2}]\nu = Abs(t)\none = "
      "f32[]{{1}}\ns = Add(u, one)\n"
      "w = f32[{3},{4},1,1]{{seed 3}}\nc = Conv(x, w) {{group={5}}}\n{6}r = Relu(c)\nreturn d, r",
      batch, group * in, side, channels, in, group, after[draw.rng.below(6)]);
  expect_as_reference(text);
  expect_as_reference(text, {.tune = true});
}

TEST_P(Differential, Pooling) {
  Draw draw(static_cast<uint64_t>(100 + GetParam()));
  const size_t spatial = static_cast<size_t>(draw.of({1, 2, 2, 3}));
  std::vector<int64_t> x = {draw.of({1, 2}), draw.of({1, 3, 16, 20})};
  std::vector<int64_t> kernel, strides, dilations, pads(2 * spatial, 0);
  const bool max = draw.coin();
  for (size_t i = 0; i < spatial; ++i) {
    kernel.push_back(draw.of({1, 2, 3}));
    strides.push_back(draw.between(1, 3));
    dilations.push_back(max ? draw.between(1, 2) : 1);
    pads[i] = draw.between(0, kernel[i] - 1);
    pads[spatial + i] = draw.between(0, kernel[i] - 1);
    x.push_back((kernel[i] - 1) * dilations[i] + draw.between(1, 9));
  }
  std::string text = fmt::format("input x: f32{}\n", list(x));
  // After a convolution the layout is blocked.
  if (draw.coin()) {
    std::vector<int64_t> w = {32, x[1]};
    w.insert(w.end(), spatial, 1);
    const std::vector<int64_t> ones(spatial, 1);
    text += fmt::format("w = f32{}{{seed 3}}\nc = Conv(x, w) {{strides={}, dilations={}, pads={}}}\n", list(w),
                        list(ones), list(ones), list(std::vector<int64_t>(2 * spatial, 0)));
  } else {
    text += "c = Identity(x)\n";
  }
  const std::string extra = fmt::format(", dilations={}", list(dilations)) +
                            (max ? "" : fmt::format(", count_include_pad={}", draw.between(0, 1)));
  text +=
      fmt::format("y = {}(c) {{kernel_shape={}, strides={}, pads={}, ceil_mode={}{}}}\n",
                  max ? "MaxPool" : "AveragePool", list(kernel), list(strides), list(pads), draw.between(0, 1), extra);
  text += "g = GlobalAveragePool(y)\nm = GlobalMaxPool(y)\nreturn y, g, m";
  expect_as_reference(text);
  expect_own_as_reference(text);
  expect_as_reference(text, kBf16);
}

TEST_P(Differential, Products) {
  Draw draw(static_cast<uint64_t>(200 + GetParam()));
  const int64_t m = draw.of({1, 2, 7, 16, 33}), k = draw.of({1, 5, 16, 40}), n = draw.of({1, 3, 16, 50});
  const bool constant = draw.coin();
  std::vector<int64_t> a = {m, k}, b = {k, n};
  for (int64_t i = draw.between(0, 2); i > 0; --i) a.insert(a.begin(), draw.between(1, 3));
  if (!constant)
    while (b.size() < a.size()) b.insert(b.begin(), draw.coin() ? 1 : a[a.size() - b.size() - 1]);
  std::string text = fmt::format("input a: f32{}\n", list(a));
  text += constant ? fmt::format("b = f32{}{{seed 3}}\n", list(b)) : fmt::format("input b: f32{}\n", list(b));
  text += fmt::format("v = f32[{}]{{seed 4}}\nc = MatMul(a, b)\n", n);
  text += draw.coin() ? "d = Add(c, v)\n" : "h = f32[]{0.125}\nd = Mul(c, h)\n";
  const char* after[] = {"Gelu(d)", "Relu(d)", "Add(d, r)", "Tanh(d)"};
  const std::string tail = after[draw.rng.below(4)];
  if (tail.starts_with("Add")) text += "r = Sigmoid(a2)\n";
  std::vector<int64_t> out = a;
  out.back() = n;
  text = fmt::format("input a2: f32{}\n", list(out)) + text + "y = " + tail + "\nreturn y";
  expect_as_reference(text);
  expect_own_as_reference(text);
  expect_as_reference(text, kBf16);
}

TEST_P(Differential, Gemm) {
  Draw draw(static_cast<uint64_t>(300 + GetParam()));
  const int64_t m = draw.of({1, 2, 33}), k = draw.of({1, 5, 40}), n = draw.of({1, 3, 50});
  const int64_t ta = draw.between(0, 1), tb = draw.between(0, 1);
  const std::vector<std::vector<int64_t>> biases = {{n}, {1, n}, {m, 1}, {m, n}, {1}};
  const auto& c = biases[draw.rng.below(biases.size())];
  const std::string b = list(tb != 0 ? std::vector{n, k} : std::vector{k, n});
  std::string text = fmt::format("input a: f32{}\n", list(ta != 0 ? std::vector{k, m} : std::vector{m, k}));
  text += draw.coin() ? fmt::format("b = f32{}{{seed 2}}\n", b) : fmt::format("input b: f32{}\n", b);
  text += fmt::format("c = f32{}{{seed 3}}\ny = Gemm(a, b, c) {{transA={}, transB={}, alpha={}, beta={}}}\n", list(c),
                      ta, tb, draw.coin() ? "1." : "0.5", draw.coin() ? "1." : "2.");
  text += "z = Relu(y)\nreturn z";
  EXPECT_EQ(references(expect_as_reference(text)), 0) << text;
  expect_as_reference(text, kBf16);
}

/// A line that makes x2 from x [batch, channels, ...]: with blocked channels after a convolution, else unchanged.
std::string behind(Draw& draw, int64_t channels, size_t spatial) {
  if (draw.coin()) return "x2 = Abs(x)\n";
  std::vector<int64_t> w = {channels, channels};
  w.insert(w.end(), spatial, 1);
  const std::vector<int64_t> ones(spatial, 1);
  return fmt::format("w = f32{}{{seed 9}}\nx2 = Conv(x, w) {{strides={}, dilations={}, pads={}}}\n", list(w),
                     list(ones), list(ones), list(std::vector<int64_t>(2 * spatial, 0)));
}

TEST_P(Differential, NumbersOfChannels) {
  Draw draw(static_cast<uint64_t>(1400 + GetParam()));
  const std::vector<int64_t> x = {draw.between(1, 2), draw.of({5, 16, 24, 32}), draw.between(1, 6),
                                  draw.of({2, 7, 40})};
  const std::vector<int64_t> numbers = {draw.of({1, x[0]}), x[1], 1, 1};
  std::string text = fmt::format("input x: f32{}\ninput n: f32{}\n", list(x), list(numbers)) + behind(draw, x[1], 2);
  const char* after[] = {"Relu(y)", "Clip(y) {min=f32[]{-0.5}, max=f32[]{0.75}}", "Sigmoid(y)"};
  text += fmt::format("s = Tanh(n)\ny = {}({})\nz = {}\n", draw.coin() ? "Mul" : "Add", draw.coin() ? "s, x2" : "x2, s",
                      after[draw.rng.below(3)]);
  text += draw.coin() ? "return z" : "return z, x2";
  EXPECT_EQ(references(expect_as_reference(text)), 0) << text;
  expect_as_reference(text, kBf16);
}

TEST_P(Differential, Reductions) {
  Draw draw(static_cast<uint64_t>(900 + GetParam()));
  const std::vector<int64_t> x = {draw.between(1, 3), draw.of({1, 5, 16, 32, 70}), draw.of({1, 4, 9}),
                                  draw.of({1, 7, 130, 300})};
  const std::vector<std::vector<int64_t>> choices = {{2, 3},       {1},    {3}, {0},      {1, 2},
                                                     {0, 1, 2, 3}, {1, 3}, {2}, {0, 2, 3}};
  const char* names[] = {"ReduceSum", "ReduceMean", "ReduceMax",      "ReduceMin",
                         "ReduceL1",  "ReduceL2",   "ReduceSumSquare"};
  const auto& axes = choices[draw.rng.below(choices.size())];
  std::string text = fmt::format("input x: f32{}\n", list(x)) + behind(draw, x[1], 2);
  text +=
      fmt::format("y = {}(x2) {{axes={}, keepdims={}}}\n", names[draw.rng.below(7)], list(axes), draw.between(0, 1));
  text += "z = Relu(y)\nreturn y, z";
  const auto kernels = expect_as_reference(text);
  expect_as_reference(text, kBf16);
  const bool largest = text.find("ReduceM") != std::string::npos && text.find("ReduceMean") == std::string::npos;
  if (!largest || (axes != std::vector<int64_t>{1, 3} && axes != std::vector<int64_t>{0, 2, 3})) {
    EXPECT_EQ(references(kernels), 0) << text;
  }
}

TEST_P(Differential, Gathers) {
  Draw draw(static_cast<uint64_t>(1000 + GetParam()));
  const std::vector<int64_t> x = {draw.between(1, 3), draw.of({2, 5, 16}), draw.of({2, 6})};
  const int64_t axis = draw.between(0, 2);
  const int64_t extent = x[static_cast<size_t>(axis)];
  const std::vector<int64_t> indices = {draw.between(-extent, extent - 1), draw.between(-extent, extent - 1), 0};
  const bool constant = draw.coin();
  std::string text = constant ? fmt::format("input a: f32[1]\nx = f32{}{{seed 2}}\n", list(x))
                              : fmt::format("input a: f32[1]\ninput x0: f32{}\nx = Tanh(x0)\n", list(x));
  text += "input i: i64[3]\n";
  text += fmt::format("y = Gather(x, i) {{axis={}}}\nz = Mul(y, a)\nreturn y, z", axis);
  const Graph graph = graph_of(text);
  std::vector<Tensor> inputs = {random_tensor(DType::Float, {1}, 1)};
  if (!constant) inputs.push_back(random_tensor(DType::Float, x, 2));
  inputs.push_back(Tensor::ints({3}, indices));
  EXPECT_EQ(references(expect_as_reference(graph, inputs)), 0);
}

TEST_P(Differential, Borders) {
  Draw draw(static_cast<uint64_t>(1100 + GetParam()));
  const std::vector<int64_t> x = {draw.between(1, 2), draw.of({1, 5, 16, 32}), draw.between(3, 6), draw.between(3, 6)};
  std::vector<int64_t> pads;
  for (size_t i = 0; i < 8; ++i) pads.push_back(i % 4 < 2 ? draw.of({0, 0, 0, 1}) : draw.between(-1, 2));
  std::string text = fmt::format("input x: f32{}\n", list(x)) + behind(draw, x[1], 2);
  text += fmt::format("y = Pad(x2) {{mode=\"constant\", pads={}{}}}\n", list(pads),
                      draw.coin() ? ", constant_value=f32[]{1.5}" : "");
  text += "z = Relu(y)\nreturn y, z";
  EXPECT_EQ(references(expect_as_reference(text)), 0) << text;
  expect_as_reference(text, kBf16);
}

TEST_P(Differential, Broadcasts) {
  Draw draw(static_cast<uint64_t>(1500 + GetParam()));
  std::vector<int64_t> to = {draw.between(1, 3), draw.of({1, 5, 16}), draw.between(1, 6), draw.of({1, 3, 40})};
  std::vector<int64_t> from = to;
  for (int64_t& extent : from)
    if (draw.coin()) extent = 1;
  from.erase(from.begin(), from.begin() + draw.between(0, 2));
  std::string text = fmt::format("input x: f32{}\nt = Tanh(x)\ny = Expand(t) {{shape={}}}\n", list(from), list(to));
  EXPECT_EQ(references(expect_as_reference(text + "z = Relu(y)\nreturn y, z, t")), 0) << text;
}

TEST_P(Differential, Resizes) {
  Draw draw(static_cast<uint64_t>(1200 + GetParam()));
  const std::vector<int64_t> x = {draw.between(1, 2), draw.of({1, 5, 16, 32}), draw.between(1, 6), draw.between(2, 6)};
  const std::vector<std::string> modes = {
      "mode=\"nearest\", coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\"",
      "mode=\"nearest\", coordinate_transformation_mode=\"half_pixel\"", "mode=\"linear\"",
      "mode=\"linear\", coordinate_transformation_mode=\"align_corners\""};
  const std::string& mode = modes[draw.rng.below(modes.size())];
  const auto factor = draw.between(1, 3);
  std::string text = fmt::format("input x: f32{}\n", list(x)) + behind(draw, x[1], 2);
  text += draw.coin()
              ? fmt::format("y = Resize(x2) {{{}, scales=[1.,1.,{}.,2.]}}\n", mode, factor)
              : fmt::format("y = Resize(x2) {{{}, sizes={}}}\n", mode, list({x[0], x[1], x[2] * factor, x[3] * 2}));
  text += "z = Relu(y)\nreturn y, z";
  const auto kernels = expect_as_reference(text);
  expect_as_reference(text, kBf16);
  if (mode.find("align") == std::string::npos) {
    EXPECT_EQ(references(kernels), 0) << text;
  }
}

TEST_P(Differential, TransposedConvolution) {
  Draw draw(static_cast<uint64_t>(1300 + GetParam()));
  const size_t spatial = static_cast<size_t>(draw.of({1, 2, 2, 3}));
  const int64_t group = draw.of({1, 1, 2, 4});
  const int64_t in = draw.of({1, 3, 8, 16}), out = draw.of({1, 5, 8, 16});
  std::vector<int64_t> x = {draw.between(1, 2), group * in}, w = {group * in, out};
  std::vector<int64_t> strides, dilations, begin, end, extra;
  for (size_t i = 0; i < spatial; ++i) {
    x.push_back(draw.between(2, 6));
    w.push_back(draw.between(1, 4));
    strides.push_back(draw.between(1, 3));
    dilations.push_back(draw.of({1, 1, 2}));
    begin.push_back(draw.between(0, 1));
    end.push_back(draw.between(0, 1));
    extra.push_back(draw.between(0, strides.back() - 1));
  }
  std::vector<int64_t> pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  std::string text = fmt::format("input x: f32{}\nb = f32[{}]{{seed 4}}\n", list(x), group * out);
  const bool weights = draw.coin();
  text += fmt::format("{}f32{}{}\n", weights ? "v = " : "input v: ", list(w), weights ? "{seed 3}" : "");
  text += fmt::format(
      "y = ConvTranspose(x, v{}) {{strides={}, dilations={}, pads={}, output_padding={}, group={}}}\nz = Relu(y)\n",
      draw.coin() ? ", b" : "", list(strides), list(dilations), list(pads), list(extra), group);
  text += "return y, z";
  expect_as_reference(text);
  expect_own_as_reference(text);
  expect_as_reference(text, kBf16);
}

TEST_P(Differential, ElementWise) {
  Draw draw(static_cast<uint64_t>(400 + GetParam()));
  std::vector<int64_t> a = {draw.of({1, 2}), draw.of({1, 3, 16, 20}), draw.between(1, 5), draw.between(1, 5)};
  std::vector<int64_t> b = a;
  for (int64_t& dim : b)
    if (draw.coin()) dim = 1;
  b.erase(b.begin(), b.begin() + draw.between(0, 3));
  if (draw.coin()) std::swap(a, b);
  const char* ops[] = {"Add", "Sub", "Mul", "Div", "Max", "Min"};
  std::string text = fmt::format("input a: f32{}\ninput b: f32{}\n", list(a), list(b));
  text += fmt::format("c = {}(a, b)\nd = Relu(c)\ne = Abs(c)\nf = Sqrt(e)\ng = Exp(d)\nh = Add(f, g)\n",
                      ops[draw.rng.below(6)]);
  expect_as_reference(text + "i = Mul(h, h)\nreturn c, i");
}

TEST_P(Differential, Concatenation) {
  Draw draw(static_cast<uint64_t>(500 + GetParam()));
  const int64_t batch = draw.of({1, 1, 2}), side = draw.between(1, 6);
  const int64_t axis = draw.of({1, 1, 1, 0, 2, 3});
  std::string text = fmt::format("input x: f32[{},8,{},{}]\n", batch, side, side);
  std::string parts;
  for (int i = 0; i < draw.between(2, 4); ++i) {
    const int64_t channels = axis == 1 ? draw.of({16, 16, 32, 24, 3}) : 16;
    text += fmt::format("w{0} = f32[{1},8,1,1]{{seed {0}}}\nc{0} = Conv(x, w{0})\nr{0} = Relu(c{0})\n", i, channels);
    parts += fmt::format("{}r{}", i == 0 ? "" : ", ", i);
  }
  text += fmt::format("y = Concat({}) {{axis={}}}\nz = Concat(y, r0, y) {{axis={}}}\nt = Tanh(y)\n", parts, axis, axis);
  text += "s = Sigmoid(r0)\nreturn z, t, s";
  expect_as_reference(text);
  expect_own_as_reference(text);
  expect_as_reference(text, kBf16);
}

TEST_P(Differential, Shapes) {
  Draw draw(static_cast<uint64_t>(600 + GetParam()));
  const int64_t a = draw.between(1, 4), b = draw.of({2, 16, 32}), c = draw.between(1, 5), d = draw.between(2, 5);
  std::string text = fmt::format("input x: f32[{},{},{},{}]\n", a, b, c, d);
  if (draw.coin()) {
    text += fmt::format("w = f32[32,{},1,1]{{seed 1}}\nx2 = Conv(x, w)\n", b);
  } else {
    text += "x2 = Relu(x)\n";
  }
  const int64_t channels = text.find("Conv") != std::string::npos ? 32 : b;
  text += fmt::format("p, q = Split(x2) {{axis=1, split=[{},{}]}}\n", channels / 2, channels - channels / 2);
  text += fmt::format("s = Slice(x2) {{starts=[1,-1], ends=[{},{}], axes=[1,3], steps=[{},1]}}\n", channels, d,
                      draw.between(1, 2));
  text += fmt::format("z = Slice(x2) {{starts=[0,0], ends=[{},{}], axes=[2,3], steps=[{},{}]}}\n", c, d,
                      draw.between(1, 3), draw.between(1, 3));
  text += "y = Sigmoid(z)\nt = Transpose(x2) {perm=[0,2,3,1]}\n";
  text += fmt::format("u = Reshape(t) {{shape=[{},{}]}}\nv = Flatten(x2) {{axis=1}}\n", a * c, d * channels);
  text += "m = Mul(p, q)\nn = Relu(s)\no = Softmax(t) {axis=-1}\nreturn m, n, o, u, v, y, z";
  expect_as_reference(text);
  expect_own_as_reference(text);
  expect_as_reference(text, kBf16);
}

TEST_P(Differential, Normalization) {
  Draw draw(static_cast<uint64_t>(700 + GetParam()));
  const int64_t c = draw.of({1, 3, 16, 20}), h = draw.between(1, 6), w = draw.of({1, 7, 16});
  std::string text = fmt::format("input x: f32[{},{},{},{}]\n", draw.between(1, 2), c, h, w);
  text += fmt::format(
      "s = f32[{0}]{{seed 1}}\nb = f32[{0}]{{seed 2}}\nm = f32[{0}]{{seed 3}}\nv0 = f32[{0}]{{seed 4}}\nv = Abs(v0)\n",
      c);
  text += "n = BatchNormalization(x, s, b, m, v)\nr = Relu(n)\n";
  const int64_t axis = draw.of({-1, 2});
  const std::string tail = axis == -1 ? fmt::format("[{}]", w) : fmt::format("[{},{}]", h, w);
  text += fmt::format("ls = f32{0}{{seed 5}}\nlb = f32{0}{{seed 6}}\nl = LayerNormalization(x, ls, lb) {{axis={1}}}\n",
                      tail, axis);
  text += fmt::format("p = Softmax(x) {{axis={}}}\nq = LogSoftmax(x) {{axis=-1}}\n", draw.between(0, 3));
  text += "return n, r, l, p, q";
  EXPECT_EQ(references(expect_as_reference(text)), 0) << text;
  expect_as_reference(text, kBf16);
}

/// Nodes that may be fused after a kernel, in any order and number.
TEST_P(Differential, Chains) {
  Draw draw(static_cast<uint64_t>(800 + GetParam()));
  const char* roots[] = {"Conv(x, w) {pads=[1,1,1,1]}",
                         "Conv(x, k)",
                         "Conv(x, g) {group=16, pads=[1,1,1,1]}",
                         "MatMul(x, m)",
                         "MatMul(x, x)",
                         "BatchNormalization(x, s, b, u, v)",
                         "Mul(x, h)",
                         "Add(x, x2)"};
  const char* steps[] = {"Relu({})",   "Tanh({})",   "Sigmoid({})", "Abs({})",      "Neg({})",    "HardSwish({})",
                         "Add({}, h)", "Mul({}, e)", "Sub(e, {})",  "Div({}, e)",   "Max({}, f)", "Min({}, h)",
                         "Add({}, r)", "Add(q, {})", "Elu({})",     "LeakyRelu({})"};
  std::string text =
      "input x: f32[1,16,8,8]\ninput x2: f32[1,16,8,8]\nw = f32[16,16,3,3]{seed 1}\nk = f32[16,16,1,1]{seed 2}\n"
      "g = f32[16,1,3,3]{seed 3}\nm = f32[8,8]{seed 4}\ns = f32[16]{seed 5}\nb = f32[16]{seed 6}\nu = f32[16]{seed 7}\n"
      "v0 = f32[16]{seed 8}\nv = Abs(v0)\ne = f32[]{1.5}\nf = f32[]{-0.75}\nh = f32[]{0.5}\nq = f32[16,1,1]{seed 9}\n"
      "r = Softplus(x2)\n";
  text += fmt::format("t0 = {}\n", roots[draw.rng.below(std::size(roots))]);
  const int64_t length = draw.between(2, 8);
  for (int64_t i = 0; i < length; ++i) {
    const std::string before = fmt::format("t{}", i);
    text +=
        fmt::format("t{} = {}\n", i + 1, fmt::format(fmt::runtime(steps[draw.rng.below(std::size(steps))]), before));
  }
  expect_as_reference(text + fmt::format("return t{}", length));
}

INSTANTIATE_TEST_SUITE_P(Random, Differential, testing::Range(0, 48));

TEST(Differential, EveryFunction) {
  for (const char* function :
       {"Relu",      "Tanh", "Sigmoid", "Abs",   "Exp",  "HardSwish", "Neg",         "Softplus", "Mish", "Elu",
        "LeakyRelu", "Gelu", "Erf",     "Floor", "Celu", "Selu",      "HardSigmoid", "Swish",    "Sign", "Round"}) {
    SCOPED_TRACE(function);
    const auto kernels = expect_as_reference(fmt::format("input x: f32[3,37]\ny = {}(x)\nreturn y", function));
    const std::set<std::string> slow = {"Floor", "Celu", "Selu", "Sign"};
    EXPECT_EQ(references(kernels), slow.contains(function) ? 1 : 0);
    // With channels that do not fill their block, whose padding must stay zero.
    expect_as_reference(fmt::format(
        "input x: f32[1,4,5,5]\nw = f32[11,4,1,1]{{seed 1}}\nv = f32[6,11,3,3]{{seed 2}}\nc = Conv(x, w)\ny = {}(c)\n"
        "z = Conv(y, v)\nreturn y, z",
        function));
  }
  expect_as_reference(
      "input x: f32[3,37]\na = Abs(x)\ne = f32[]{0.5}\nl = Log(a)\ns = Sqrt(a)\nr = Reciprocal(x)\n"
      "p = Pow(a, e)\nm = Max(x, e)\nd = Div(e, x)\nreturn l, s, r, p, m, d");
  const auto cube = expect_as_reference("input x: f32[3,37]\nn = f32[]{3}\ny = Pow(x, n)\nreturn y");
  EXPECT_TRUE(cube.front().implementation.starts_with("own:"));
}

TEST(Differential, Selections) {
  // Of the condition, the first and the second tensor.
  const char* const extents[][3] = {{"5,37", "5,37", "5,37"},  {"5,37", "3,5,37", "1"}, {"3,1,37", "5,1", "37"},
                                    {"5,1", "5,37", "2,1,37"}, {"1", "4,16", "4,16"},   {"7", "1", "1"}};
  for (const auto& [which, yes, no] : extents) {
    SCOPED_TRACE(fmt::format("{} {} {}", which, yes, no));
    const auto kernels = expect_as_reference(fmt::format(
        "input c: bool[{}]\ninput a: f32[{}]\ninput b: f32[{}]\ny = Where(c, a, b)\nreturn y", which, yes, no));
    EXPECT_EQ(references(kernels), 0);
  }
  expect_as_reference("input c: bool[2]\ninput a: i64[2]\ninput b: i64[2]\ny = Where(c, a, b)\nreturn y");
}

TEST(Differential, EmptyExtents) {
  expect_as_reference("input x: f32[0,3,8,8]\nw = f32[4,3,3,3]{seed 1}\nc = Conv(x, w)\ny = Relu(c)\nreturn y");
  expect_as_reference("input a: f32[2,0]\nb = f32[0,3]{}\ny = MatMul(a, b)\nreturn y");
  expect_as_reference("input a: f32[2,0]\ninput b: f32[2,3]\ny = Concat(a, b) {axis=1}\nz = Relu(y)\nreturn z");
  expect_as_reference("input a: f32[0,4]\ny = Softmax(a) {axis=1}\nt = Transpose(y) {perm=[1,0]}\nreturn t");
}

TEST(Differential, OtherElementTypes) {
  expect_as_reference(
      "input x: i64[2,3]\ny = Add(x, x)\nz = Reshape(y) {shape=[3,2]}\nt = Transpose(z) {perm=[1,0]}\nreturn t");
  expect_as_reference("input x: f64[2,3]\ny = Relu(x)\nreturn y");
  expect_as_reference("input x: f16[2,3]\ny = Relu(x)\nz = Cast(y) {to=1}\nt = Tanh(z)\nreturn t");
  expect_as_reference("input x: bool[2,3]\nn = Not(x)\ny = Cast(n) {to=1}\nreturn y, x");
}

}  // namespace
}  // namespace isomer::onednn
