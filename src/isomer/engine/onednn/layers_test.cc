// Compares whole layers and decomposed operators with the reference executor, on random shapes.

#include <set>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

class Layers : public testing::TestWithParam<int> {
 protected:
  int64_t of(std::initializer_list<int64_t> values) { return *(values.begin() + rng_.below(values.size())); }
  bool coin() { return rng_.below(2) == 0; }
  void start(uint64_t family) { rng_ = Rng(1000 * family + static_cast<uint64_t>(GetParam())); }

 private:
  Rng rng_{0};
};

/// No kernel may run element by element, except for LRN of some sizes, for which oneDNN has no other. Recurrent layers
/// whose implementation oneDNN calls its reference are products with functions in between.
void expect_fast(const std::string& text) {
  static const std::set<std::string> kAnyway = {"LRN", "RNN", "GRU", "LSTM"};
  for (const PlanKernel& kernel : expect_as_reference(text)) {
    const bool slow = kernel.implementation == "reference" ||
                      (is_reference(kernel.implementation.c_str()) && !kAnyway.contains(kernel.name));
    EXPECT_FALSE(slow) << kernel.name << ", " << kernel.implementation << ", of\n" << text;
  }
  expect_as_reference(text, {.threads = 2, .tune = false});
}

/// Likewise, and also in bf16 if the processor has it.
void expect_fast_in_bf16(const std::string& text) {
  expect_fast(text);
  expect_as_reference(text, {.tune = false, .dtype = check_dtype(DType::BFloat16) ? DType::BFloat16 : DType::Float});
}

TEST_P(Layers, Recurrent) {
  start(1);
  const char* const cells[] = {"RNN", "GRU", "LSTM"};
  const char* const directions[] = {"forward", "reverse", "bidirectional"};
  const auto cell = static_cast<size_t>(of({0, 1, 2}));
  const auto way = static_cast<size_t>(of({0, 1, 2}));
  const int64_t gates[] = {1, 3, 4};
  const int64_t t = of({1, 2, 5}), n = of({1, 3, 16}), c = of({1, 7, 16, 40}), h = of({1, 5, 16, 33});
  const int64_t d = way == 2 ? 2 : 1;
  const bool bias = coin(), h_given = coin(), c_given = cell == 2 && coin();
  std::string text = fmt::format(
      "input x: f32[{},{},{}]\nw = f32[{},{},{}]{{seed 1}}\nr = f32[{},{},{}]{{seed 2}}\nb = f32[{},{}]{{seed 3}}\n"
      "input h: f32[{},{},{}]\ninput c: f32[{},{},{}]\n",
      t, n, c, d, gates[cell] * h, c, d, gates[cell] * h, h, d, 2 * gates[cell] * h, d, n, h, d, n, h);
  std::string operands = std::string("x, w, r") + (bias ? ", b" : "");
  if (h_given || c_given) operands += std::string(bias ? "" : ", _") + ", _" + (h_given ? ", h" : ", _");
  if (c_given) operands += ", c";
  std::string attrs = fmt::format("direction=\"{}\"", directions[way]);
  if (cell == 1 && coin()) attrs += ", linear_before_reset=1";
  if (cell == 0 && coin()) attrs += d == 2 ? ", activations=[\"Relu\", \"Relu\"]" : ", activations=[\"Relu\"]";
  const int64_t results = std::min<int64_t>(of({1, 2, 3}), cell == 2 ? 3 : 2);
  const char* const names[] = {"y", "y, yh", "y, yh, yc"};
  text += fmt::format("{} = {}({}) {{{}}}\nz = Tanh(y)\nreturn z, {}", names[results - 1], cells[cell], operands, attrs,
                      names[results - 1]);
  expect_fast(text);
  expect_own_as_reference(text);
}

/// Layers that oneDNN lacks: with weights that are fed in each run, and in other forms.
TEST_P(Layers, RecurrentStepByStep) {
  start(5);
  const char* const cells[] = {"RNN", "GRU", "LSTM"};
  const char* const directions[] = {"forward", "reverse", "bidirectional"};
  const auto cell = static_cast<size_t>(of({0, 1, 2}));
  const auto way = static_cast<size_t>(of({0, 1, 2}));
  const int64_t gates[] = {1, 3, 4};
  const int64_t t = of({1, 2, 5}), n = of({1, 3}), c = of({1, 7}), h = of({1, 5, 16}), d = way == 2 ? 2 : 1;
  const bool fed = coin(), batch_first = coin(), bias = coin(), peephole = cell == 2 && coin();
  const auto weight = [&](const char* name, const std::string& extents) {
    return fed ? fmt::format("input {}: f32[{}]\n", name, extents)
               : fmt::format("{0} = f32[{1}]{{seed 1}}\n", name, extents);
  };
  const std::string state = batch_first ? fmt::format("{},{},{}", n, d, h) : fmt::format("{},{},{}", d, n, h);
  std::string text = fmt::format("input x: f32[{},{},{}]\n", batch_first ? n : t, batch_first ? t : n, c) +
                     weight("w", fmt::format("{},{},{}", d, gates[cell] * h, c)) +
                     weight("r", fmt::format("{},{},{}", d, gates[cell] * h, h)) +
                     weight("b", fmt::format("{},{}", d, 2 * gates[cell] * h)) +
                     weight("p", fmt::format("{},{}", d, 3 * h)) + fmt::format("input h: f32[{}]\n", state);
  const std::string operands =
      std::string("x, w, r, ") + (bias ? "b" : "_") + ", _, " + (coin() ? "h" : "_") + (peephole ? ", _, p" : "");
  std::string attrs = fmt::format("direction=\"{}\", layout={}", directions[way], batch_first ? 1 : 0);
  if (cell == 1 && coin()) attrs += ", linear_before_reset=1";
  if (cell == 2 && coin()) attrs += ", input_forget=1";
  const char* const results[] = {"y, yh", "y, yh", "y, yh, yc"};
  text += fmt::format("{0} = {1}({2}) {{{3}}}\nreturn {0}", results[cell], cells[cell], operands, attrs);
  expect_fast(text);
}

TEST_P(Layers, InstanceAndGroupNormalization) {
  start(2);
  const int64_t n = of({1, 1, 2, 3}), groups = of({1, 2, 4}), c = groups * of({1, 3, 8}), s = of({1, 5, 12});
  const std::string extents =
      coin() ? fmt::format("[{},{},{},{}]", n, c, s, s + 1) : fmt::format("[{},{},{}]", n, c, s);
  const std::string constants = fmt::format("g = f32[{}]{{seed 1}}\nb = f32[{}]{{seed 2}}\n", c, c);
  // With a single element the variance is 0, and the remaining difference is magnified.
  const std::string epsilon = "epsilon=0.01";
  expect_fast(fmt::format("input x: f32{}\n{}y = InstanceNormalization(x, g, b) {{{}}}\nz = Relu(y)\nreturn y, z",
                          extents, constants, epsilon));
  expect_fast(fmt::format("input x: f32{}\n{}y = GroupNormalization(x, g, b) {{{}, num_groups={}}}\nreturn y", extents,
                          constants, epsilon, groups));
  expect_fast(
      fmt::format("input x: f32{}\ng = f32[{}]{{seed 1}}\nb = f32[{}]{{seed 2}}\ny = GroupNormalization(x, g, b) "
                  "{{{}, num_groups={}, per_group=1}}\nreturn y",
                  extents, groups, groups, epsilon, groups));
}

TEST_P(Layers, BehindConvolutions) {
  start(3);
  const int64_t n = of({1, 2}), c = of({3, 16, 20, 32});
  const std::string head = fmt::format(
      "input x: f32[{},{},9,8]\nw = f32[{},{},3,3]{{seed 1}}\ng = f32[{}]{{seed 2}}\nb = f32[{}]{{seed 3}}\n"
      "p = f32[{},1,1]{{seed 4}}\nq = f32[1]{{seed 5}}\nc = Conv(x, w) {{pads=[1,1,1,1]}}\n",
      n, c, c, c, c, c, c);
  expect_fast_in_bf16(head + "i = InstanceNormalization(c, g, b)\nr = PRelu(i, p)\ny = Conv(r, w)\nreturn y, r");
  expect_fast_in_bf16(head + "r = PRelu(c, p)\ns = PRelu(r, q)\nl = LRN(s) {size=5}\ny = Conv(l, w)\nreturn y");
  expect_fast(head + "s = Swish(c)\nt = Round(s)\nreturn s, t");
}

TEST_P(Layers, SlopesAndResponses) {
  start(4);
  const int64_t n = of({1, 2}), c = of({1, 5, 16});
  const int64_t h = of({1, 4}), w = of({1, 3});
  const auto image = fmt::format("{},{},{},{}", n, c, h, w);
  const std::string usual[] = {fmt::format("{},1,1", c), image};
  const std::string odd[] = {"1", fmt::format("{},{},{}", c, h, w), fmt::to_string(w), fmt::format("1,{},{},1", c, h)};
  const std::string head = fmt::format("input x: f32[{}]\nt = Tanh(x)\n", image);  // which may be overwritten
  for (const std::string& slope : usual) {
    expect_fast(head + fmt::format("s = f32[{}]{{seed 1}}\ny = PRelu(t, s)\nreturn y", slope));
    expect_fast(head + fmt::format("input s: f32[{}]\ny = PRelu(t, s)\nreturn y", slope));
  }
  for (const std::string& slope : odd) {
    const std::string text = head + fmt::format("input s: f32[{}]\ny = PRelu(t, s)\nreturn y", slope);
    expect_as_reference(text);
    expect_as_reference(text, {.threads = 2, .tune = false});
  }
  expect_fast(head + fmt::format("y = LRN(t) {{size={}, alpha=0.5, bias=2.0}}\nreturn y", of({1, 3, 5})));
}

TEST_P(Layers, Rearrangements) {
  start(5);
  const int64_t n = of({1, 2}), c = of({1, 3}), b = of({1, 2, 3}), h = of({1, 4}), w = of({1, 5});
  for (const char* mode : {"DCR", "CRD"}) {
    expect_fast(fmt::format(
        "input x: f32[{},{},{},{}]\ny = DepthToSpace(x) {{blocksize={}, mode=\"{}\"}}\nz = Relu(y)\nreturn y, z", n,
        c * b * b, h, w, b, mode));
    expect_fast(fmt::format("input x: f32[{},{},{},{}]\ny = SpaceToDepth(x) {{blocksize={}, mode=\"{}\"}}\nreturn y", n,
                            c, h * b, w * b, b, mode));
  }
}

TEST_P(Layers, SumsOfProducts) {
  start(6);
  const char* const equations[][3] = {{"bhid,bhjd->bhij", "b,h,i,d", "b,h,j,d"},
                                      {"ij,jk", "i,j", "j,k"},
                                      {"ij,j->i", "i,j", "j"},
                                      {"i,j->ij", "i", "j"},
                                      {"i,i->", "i", "i"},
                                      {"bij,bjk->kbi", "b,i,j", "b,j,k"},
                                      {"nchw,hwk->nkc", "n,c,h,w", "h,w,k"},
                                      {"...ij,...jk->...ik", "b,h,i,j", "b,h,j,k"},
                                      {"bi,bi->bi", "b,i", "b,i"},
                                      {"ji,ki->kj", "j,i", "k,i"}};
  const auto& [equation, a, b] = equations[of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})];
  std::map<char, int64_t> extents;
  const auto shape = [&](const std::string& labels) {
    std::string out;
    for (const char label : labels)
      out += label == ',' ? "," : fmt::to_string(extents.emplace(label, of({1, 2, 5, 7})).first->second);
    return out;
  };
  const std::string left = shape(a), right = shape(b);
  expect_fast(
      fmt::format("input a: f32[{}]\ninput b: f32[{}]\ny = Einsum(a, b) {{equation=\"{}\"}}\nz = Tanh(y)\nreturn y, z",
                  left, right, equation));
}

INSTANTIATE_TEST_SUITE_P(Random, Layers, testing::Range(0, 32));

// Cases that oneDNN 2.6.3 computes wrongly, or has no fast kernel for, if they are passed on unchanged.
TEST(Layers, Corners) {
  for (const char* text : {
           "input x: f32[1,20]\ns = f32[20]{seed 1}\nt = Tanh(x)\ny = PRelu(t, s)\nreturn y",
           "input x: f32[1,2]\nw = f32[2,40]{seed 2}\ns = f32[40]{seed 1}\nt = MatMul(x, w)\ny = PRelu(t, s)\nreturn y",
           "input x: f32[1,20,3,3]\nw = f32[20,20,3,3]{seed 2}\ns = f32[1,20,3,3]{seed 1}\n"
           "c = Conv(x, w) {pads=[1,1,1,1]}\nt = PRelu(c, s)\ny = Conv(t, w)\nreturn y",
           "input x: f32[1,6,2,1,3,2]\ny = LRN(x) {size=3}\nreturn y",
           "input x: f32[2,6]\ny = LRN(x) {size=3}\nreturn y",
           "input x: f32[1,20,9,8]\nw = f32[20,20,3,3]{seed 1}\ng = f32[20]{seed 2}\nb = f32[20]{seed 3}\n"
           "c = Conv(x, w) {pads=[1,1,1,1]}\ni = InstanceNormalization(c, g, b) {epsilon=0.0}\ny = Conv(i, w)\nreturn "
           "y",
           "input a: f32[1,1,1,1,1,1,1,1,1,2,2]\ny = Einsum(a, a) {equation=\"abcdefghijk,abcdefghijk->abcdefghijk\"}\n"
           "return y",
           "input a: f32[2,1,2,1,2,3,4]\ny = Einsum(a, a) {equation=\"abcdefg,abcdeig->abcdefi\"}\nreturn y",
       }) {
    expect_fast_in_bf16(text);
  }
  const auto kernels = expect_as_reference(
      "input x: f32[1,32,48]\nw = f32[6,8,48]{seed 1}\ny = Einsum(x, w) {equation=\"bsd,hkd->bshk\"}\nreturn y");
  EXPECT_EQ(count_of(kernels, "reorder"), 0) << "weights are folded";
}

TEST(Layers, WhatOneDnnHasNotStaysWithTheReference) {
  for (const char* text :
       {"input x: f32[3,2,4]\nw = f32[1,16,4]{seed 1}\nr = f32[1,16,4]{seed 2}\nn = i32[2]{2,3}\ny = LSTM(x, w, r, _, "
        "n)\n"
        "return y",
        "input x: f32[3,2,4]\nw = f32[1,12,4]{seed 1}\nr = f32[1,12,4]{seed 2}\ny = GRU(x, w, r) {clip=0.5}\nreturn y",
        "input x: f32[3,2,4]\nw = f32[1,4,4]{seed 1}\nr = f32[1,4,4]{seed 2}\n"
        "y = RNN(x, w, r) {activations=[\"Softsign\"]}\nreturn y",
        "input x: f32[1,6,2,2]\ny = LRN(x) {size=4}\nreturn y",
        "input x: f32[2,3,4]\ninput g: f32[3]\nb = f32[3]{seed 1}\ny = InstanceNormalization(x, g, b)\nreturn y",
        "input a: f32[3,3]\ny = Einsum(a) {equation=\"ii->i\"}\nreturn y",
        "input a: f32[3,3]\ninput b: f32[3]\ny = Einsum(a, b) {equation=\"ii,i->i\"}\nreturn y",
        "input a: f32[1,3]\ninput b: f32[2,3]\ny = Einsum(a, b) {equation=\"ij,ij->i\"}\nreturn y",
        "input a: f32[2,3]\ninput b: f32[2]\ny = Einsum(a, b) {equation=\"ij,i->i\"}\nreturn y"}) {
    EXPECT_EQ(references(expect_as_reference(text)), 1) << text;
  }
  expect_as_reference(
      "input x: f32[0,4,3]\ng = f32[4]{seed 1}\nb = f32[4]{seed 2}\n"
      "y = GroupNormalization(x, g, b) {num_groups=2}\nreturn y");
  expect_as_reference("input a: f32[2,0]\ninput b: f32[0,3]\ny = Einsum(a, b) {equation=\"ij,jk\"}\nreturn y");
}

}  // namespace
}  // namespace isomer::onednn
