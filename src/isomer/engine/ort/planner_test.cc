#include "isomer/engine/ort/planner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

constexpr const char* kSameWindow = "strides=[1,1], dilations=[1,1], pads=[1,1,1,1]";

/// Returns "Conv+Relu | reorder to plain b": the kernels in the order of their last nodes, then the reorders.
std::string planned(std::string text, const Boundary& boundary = {}) {
  for (size_t at = 0; (at = text.find("WINDOW", at)) != std::string::npos;) text.replace(at, 6, kSameWindow);
  const auto graph = parse_graph(text, find_op);
  if (!graph) return graph.error().message;
  const KernelPlan plan = OrtPlanner(16).plan(*graph, boundary).value();
  std::vector<size_t> order(plan.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return plan.kernel(i).back(); });
  std::string out;
  for (const size_t i : order) {
    if (!out.empty()) out += " | ";
    for (const NodeId id : plan.kernel(i)) {
      if (id != plan.kernel(i).front()) out += '+';
      out += graph->node(id).op->name;
    }
  }
  for (const auto& [value, to] : plan.reorders)
    out += fmt::format(" | reorder {} to {}", graph->name(value), to == Layout::Plain ? "plain" : "blocked");
  return out;
}

/// Returns a graph of convolutions on `channels`, with three values of one type: the input x, a = Conv(x), b = Relu(a).
std::string conv(const std::string& rest, int channels = 16, bool relu = true) {
  return fmt::format("input x: f32[1,{0},8,8]\n w = f32[{0},{0},3,3]{{seed 1}}\n v = f32[{0},{0},3,3]{{seed 2}}\n",
                     channels) +
         "a = Conv(x, w) {WINDOW}\n" + (relu ? "b = Relu(a)\n" : "") + rest;
}

TEST(OrtPlanner, ConvolutionsTakeInWhatFollows) {
  EXPECT_EQ(planned(conv("return b")), "Conv+Relu | reorder x to blocked | reorder b to plain");
  EXPECT_EQ(planned(conv("c = Conv(b, v) {WINDOW}\n d = Sigmoid(c)\n return d")),
            "Conv+Relu | Conv+Sigmoid | reorder x to blocked | reorder d to plain");
  const std::string norm = "s = f32[16]{seed 3}\n n = BatchNormalization(a, s, s, s, s)\n c = Relu(n)\n return c";
  EXPECT_EQ(planned(conv(norm, 16, false)), "Conv+BatchNormalization+Relu | reorder x to blocked | reorder c to plain");
  const std::string scale = "s = f32[16,1,1]{seed 3}\n n = Mul(a, s)\n c = Add(n, s)\n return c";
  EXPECT_EQ(planned(conv(scale, 16, false)), "Conv+Mul+Add | reorder x to blocked | reorder c to plain");
}

TEST(OrtPlanner, TheLastOpenConvolutionPerformsAResidualSum) {
  EXPECT_EQ(planned(conv("c = Conv(b, v) {WINDOW}\n d = Add(b, c)\n e = Relu(d)\n return e")),
            "Conv+Relu | Conv+Add+Relu | reorder x to blocked | reorder e to plain");
  // Not with a value that is not blocked, not twice, and not after an activation.
  EXPECT_EQ(planned(conv("c = Add(a, x)\n return c", 16, false)),
            "Conv | Add | reorder x to blocked | reorder a to plain");
  EXPECT_EQ(planned(conv("c = Conv(b, v) {WINDOW}\n d = Relu(c)\n e = Add(b, d)\n return e")),
            "Conv+Relu | Conv+Relu | Add | reorder x to blocked | reorder e to plain");
  EXPECT_EQ(planned(conv("c = Add(a, a)\n return c", 16, false)),
            "Conv | Add | reorder x to blocked | reorder c to plain");
}

TEST(OrtPlanner, ChannelsDecideWhatIsBlocked) {
  EXPECT_EQ(planned(conv("return b", 20)), "Conv+Relu | reorder x to blocked | reorder b to plain");
  EXPECT_EQ(planned(conv("return b", 22)), "Conv+Relu");
  EXPECT_EQ(planned(conv("return b", 3)), "Conv+Relu | reorder b to plain") << "few channels are read plain";
  const auto grouped = [](int channels, int groups) {
    return planned(
        fmt::format("input x: f32[1,{0},8,8]\n w = f32[{0},{1},3,3]{{seed 1}}\n"
                    "a = Conv(x, w) {{WINDOW, group={2}}}\n return a",
                    channels, channels / groups, groups));
  };
  EXPECT_EQ(grouped(20, 20), "Conv | reorder x to blocked | reorder a to plain");
  EXPECT_EQ(grouped(22, 22), "Conv");
  EXPECT_EQ(grouped(64, 4), "Conv | reorder x to blocked | reorder a to plain");
  EXPECT_EQ(grouped(64, 8), "Conv");
  const auto pooled = [](int channels) {
    return planned(conv("c = MaxPool(b) {WINDOW, kernel_shape=[3,3]}\n return c", channels));
  };
  EXPECT_EQ(pooled(16), "Conv+Relu | MaxPool | reorder x to blocked | reorder c to plain");
  EXPECT_EQ(pooled(20), "Conv+Relu | MaxPool | reorder x to blocked | reorder b to plain");
}

TEST(OrtPlanner, ElementWiseNodesStayBlockedWhereAllOperandsAre) {
  EXPECT_EQ(planned(conv("c = Concat(a, b) {axis=1}\n d = Relu(c)\n return d")),
            "Conv | Relu | Concat | Relu | reorder x to blocked | reorder d to plain");
  EXPECT_EQ(planned(conv("c = Concat(a, x) {axis=1}\n return c", 16, false)),
            "Conv | Concat | reorder x to blocked | reorder a to plain");
  EXPECT_EQ(planned(conv("c = Concat(a, b) {axis=1}\n return c", 20)),
            "Conv | Relu | Concat | reorder x to blocked | reorder a to plain | reorder b to plain");
  EXPECT_EQ(planned(conv("c = Exp(b)\n return c")), "Conv+Relu | Exp | reorder x to blocked | reorder b to plain");
  EXPECT_EQ(planned(conv("c = Sigmoid(a)\n d = Mul(a, c)\n return d", 16, false)),
            "Conv | Sigmoid+Mul | reorder x to blocked | reorder d to plain");
  const std::string gate = "c = GlobalAveragePool(b)\n d = Sigmoid(c)\n e = Mul(b, d)\n return e";
  EXPECT_EQ(
      planned(conv(gate)),
      "Conv+Relu | GlobalAveragePool | Sigmoid | Mul | reorder x to blocked | reorder b to plain | reorder d to plain");
}

TEST(OrtPlanner, BoundariesSayInWhichLayoutValuesComeAndGo) {
  EXPECT_EQ(planned(conv("return b"), {.inputs = {Layout::Blocked}, .outputs = {Layout::Blocked}}), "Conv+Relu");
  EXPECT_EQ(planned(conv("return b"), {.inputs = {Layout::Blocked}}), "Conv+Relu | reorder b to plain");
  EXPECT_EQ(planned("input x: f32[1,16,8,8]\n y = Exp(x)\n return y", {.inputs = {Layout::Blocked}}),
            "Exp | reorder x to plain");
}

TEST(OrtPlanner, ProductsTakeInBiasActivationScaleAndTransposition) {
  const std::string start = "input x: f32[4,8]\n w = f32[8,6]{seed 1}\n b = f32[6]{seed 2}\n y = MatMul(x, w)\n";
  EXPECT_EQ(planned(start + "z = Add(y, b)\n r = Relu(z)\n return r"), "MatMul+Add+Relu");
  EXPECT_EQ(planned(start + "r = Relu(y)\n return r"), "MatMul | Relu");
  EXPECT_EQ(planned(start + "z = Add(y, b)\n r = Relu(z)\n return r, z"), "MatMul+Add | Relu");
  EXPECT_EQ(planned(start + "z = Add(y, y)\n return z"), "MatMul | Add");
  EXPECT_EQ(planned("input x: f32[2,4,8]\n k = f32[]{0.5}\n t = Transpose(x) {perm=[0,2,1]}\n y = MatMul(x, t)\n"
                    " z = Mul(y, k)\n s = Softmax(z)\n return s"),
            "Transpose+MatMul+Mul | Softmax");
  EXPECT_EQ(planned("input x: f32[2,4,8]\n t = Transpose(x) {perm=[0,2,1]}\n y = MatMul(x, t)\n"
                    " z = MatMul(y, x)\n u = MatMul(t, z)\n return u"),
            "Transpose+MatMul | MatMul | Transpose+MatMul");
  EXPECT_EQ(planned("input x: f32[1,2,4,8]\n t = Transpose(x) {perm=[0,2,3,1]}\n y = MatMul(t, t)\n return y"),
            planned("input x: f32[1,2,4,8]\n t = Transpose(x) {perm=[0,2,3,1]}\n y = MatMul(t, t)\n return y"));
  EXPECT_EQ(planned("input x: f32[1,4,2,8]\n t = Transpose(x) {perm=[0,2,1,3]}\n u = Transpose(x) {perm=[0,2,3,1]}\n"
                    " y = MatMul(t, u)\n return y"),
            "Transpose | Transpose | MatMul");
}

TEST(OrtPlanner, GelusAreOneKernel) {
  const std::string erf =
      "input x: f32[4]\n c = f32[]{1.4142}\n o = f32[]{1}\n h = f32[]{0.5}\n d = Div(x, c)\n"
      " e = Erf(d)\n s = Add(e, o)\n";
  EXPECT_EQ(planned(erf + "p = Mul(x, s)\n y = Mul(p, h)\n return y"), "Div+Erf+Add+Mul+Mul");
  EXPECT_EQ(planned(erf + "p = Mul(x, h)\n y = Mul(p, s)\n return y"), "Div+Erf+Add+Mul+Mul");
  EXPECT_EQ(planned(erf + "p = Mul(x, s)\n y = Mul(p, h)\n return y, s"), "Div | Erf | Add | Mul | Mul");
  EXPECT_EQ(
      planned("input x: f32[4]\n n = f32[]{3}\n k = f32[]{0.044}\n o = f32[]{1}\n h = f32[]{0.5}\n c = f32[]{0.8}\n"
              " q = Pow(x, n)\n r = Mul(q, k)\n s = Add(x, r)\n t = Mul(s, c)\n u = Tanh(t)\n v = Add(u, o)\n"
              " w = Mul(x, h)\n y = Mul(w, v)\n return y"),
      "Pow+Mul+Add+Mul+Tanh+Add+Mul+Mul");
}

TEST(OrtPlanner, AGeluBeforeAProductIsStillAGelu) {
  EXPECT_EQ(planned("input x: f32[4,4]\n w = f32[4,4]{seed 1}\n c = f32[]{1.4142}\n o = f32[]{1}\n h = f32[]{0.5}\n"
                    " d = Div(x, c)\n e = Erf(d)\n s = Add(e, o)\n p = Mul(x, s)\n y = Mul(p, h)\n z = MatMul(y, w)\n"
                    " return z"),
            "Div+Erf+Add+Mul+Mul | MatMul");
}

TEST(OrtPlanner, LayerNormalizationWrittenOutIsOneKernel) {
  const std::string norm =
      "input x: f32[2,4,8]\n two = f32[]{2}\n eps = f32[]{0.001}\n w = f32[8]{seed 1}\n b = f32[8]{seed 2}\n"
      " m = ReduceMean(x) {axes=[-1]}\n d = Sub(x, m)\n p = Pow(d, two)\n v = ReduceMean(p) {axes=[-1]}\n"
      " e = Add(v, eps)\n s = Sqrt(e)\n q = Div(d, s)\n y = Mul(q, w)\n z = Add(y, b)\n";
  EXPECT_EQ(planned(norm + "return z"), "ReduceMean+Sub+Pow+ReduceMean+Add+Sqrt+Div+Mul+Add");
  EXPECT_EQ(planned(norm + "return z, s"), "ReduceMean | Sub | Pow | ReduceMean | Add | Sqrt | Div | Mul | Add");
}

TEST(OrtPlanner, PadsGoIntoTheWindowThatReadsThem) {
  const auto padded = [](const char* pads, const char* reader) {
    return planned(
        fmt::format("input x: f32[1,16,8,8]\n w = f32[16,16,3,3]{{seed 1}}\n a = Conv(x, w) {{WINDOW}}\n"
                    " p = Pad(a) {{pads={}}}\n y = {}\n return y",
                    pads, reader));
  };
  EXPECT_EQ(padded("[0,0,1,1,0,0,1,1]", "Conv(p, w) {WINDOW}"),
            "Conv | Pad+Conv | reorder x to blocked | reorder y to plain");
  EXPECT_EQ(padded("[0,0,0,0,0,0,1,1]", "MaxPool(p) {WINDOW, kernel_shape=[2,2]}"),
            "Conv | Pad+MaxPool | reorder x to blocked | reorder y to plain");
  EXPECT_EQ(padded("[0,0,1,1,0,0,1,1]", "Relu(p)"), "Conv | Pad | Relu | reorder x to blocked | reorder a to plain");
  EXPECT_EQ(padded("[0,16,0,0,0,0,0,0]", "Relu(p)"), "Conv | Pad | Relu | reorder x to blocked | reorder a to plain");
}

TEST(OrtPlanner, HardSwishGoesIntoAConvolution) {
  EXPECT_EQ(planned(conv("h = HardSigmoid(a)\n y = Mul(a, h)\n return y", 16, false)),
            "Conv+HardSigmoid+Mul | reorder x to blocked | reorder y to plain");
  EXPECT_EQ(planned(conv("h = HardSigmoid(a)\n y = Mul(a, h)\n return y, h", 16, false)),
            "Conv | HardSigmoid | Mul | reorder x to blocked | reorder h to plain | reorder y to plain");
}

TEST(OrtPlanner, WithoutABlockedLayoutNothingIsReordered) {
  const auto graph = parse_graph(
      "input x: f32[1,16,8,8]\n w = f32[16,16,1,1]{seed 1}\n"
      "a = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}\n b = Relu(a)\n return b",
      find_op);
  ASSERT_TRUE(graph.has_value());
  const KernelPlan plan = OrtPlanner(0).plan(*graph).value();
  EXPECT_EQ(plan.size(), 1);
  EXPECT_TRUE(plan.reorders.empty());
}

}  // namespace
}  // namespace isomer
