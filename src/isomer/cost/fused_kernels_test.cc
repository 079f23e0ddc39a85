#include "isomer/cost/fused_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "isomer/base/rng.h"
#include "isomer/cost/node_work.h"
#include "isomer/cost/roofline.h"
#include "isomer/eval/random_graph_testing.h"
#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

KernelPlan planned(const Graph& graph) {
  const Extents extents = extents_of(graph, {});
  std::vector<double> flops;
  for (const Node& node : graph.nodes()) flops.push_back(work_of(graph, node, extents).flops);
  return fused_kernels(graph, flops);
}

/// The operators of the kernels in their order, such as "Conv+Relu MaxPool".
std::string kernels(const Graph& graph) {
  const KernelPlan plan = planned(graph);
  std::string out;
  for (size_t i = 0; i < plan.size(); ++i) {
    out += i == 0 ? "" : " ";
    for (const NodeId id : plan.kernel(i)) out += (id == plan.kernel(i).front() ? "" : "+") + graph.node(id).op->name;
  }
  return out;
}
std::string kernels(const std::string& text) { return kernels(parsed(text)); }

/// A text with x, an image, and y = Conv(x, w) of the same type; both are 1 x 4 x 8 x 8.
std::string with_conv(const std::string& rest) {
  return "input x: f32[1,4,8,8]\n w = f32[4,4,3,3]{seed 1}\n c = f32[4]{seed 2}\n b = f32[4,1,1]{seed 3}\n"
         " y = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}\n" +
         rest;
}
const char* const kWindow = "{kernel_shape=[3,3], strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}";
const char* const kConv = "{strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}";

TEST(FusedKernels, ConvolutionsTakeBiasNormalizationAndActivation) {
  EXPECT_EQ(kernels(with_conv("a = Add(y, b)\n n = BatchNormalization(a, c, c, c, c)\n r = Relu(n)\n return r")),
            "Conv+Add+BatchNormalization+Relu");
  EXPECT_EQ(kernels(with_conv("s = Mul(b, y)\n t = Sub(s, b)\n u = Exp(t)\n v = Clip(u)\n return v")),
            "Conv+Mul+Sub+Exp+Clip");
}

TEST(FusedKernels, AResidualSumOfOneShapeJoinsOnce) {
  EXPECT_EQ(kernels(with_conv("s = Add(y, x)\n r = Relu(s)\n return r")), "Conv+Add+Relu");
  EXPECT_EQ(kernels(with_conv("s = Add(x, y)\n t = Add(x, s)\n r = Relu(t)\n return r")), "Conv+Add Add+Relu");
  EXPECT_EQ(kernels(with_conv("s = Sum(x, y)\n return s")), "Conv+Sum");
  EXPECT_EQ(kernels(with_conv("t = Relu(x)\n s = Sum(x, y, t)\n return s")), "Conv Relu Sum");
  EXPECT_EQ(kernels(with_conv("s = Add(y, y)\n return s")), "Conv+Add") << "one value, read twice by one node";
}

TEST(FusedKernels, AnOtherShapeOrTypeIsNotFused) {
  const std::string gate = "g = ReduceMean(x) {axes=[2,3], keepdims=1}\n";
  EXPECT_EQ(kernels(with_conv(gate + "s = Mul(y, g)\n r = Relu(s)\n return r")), "Conv ReduceMean Mul+Relu");
  EXPECT_EQ(kernels("input x: f32[1,4]\n w = f32[4,4]{seed 1}\n t = f32[3,4]{seed 2}\n y = MatMul(x, w)\n"
                    " z = Add(y, t)\n return z"),
            "MatMul Add")
      << "the weight makes the result larger";
  EXPECT_EQ(kernels(with_conv("h = Cast(y) {to=10}\n r = Relu(h)\n return r")), "Conv Cast+Relu");
}

TEST(FusedKernels, WhatIsReadTwiceOrReturnedIsStored) {
  EXPECT_EQ(kernels(with_conv("r = Relu(y)\n t = Tanh(y)\n return r, t")), "Conv Relu Tanh");
  EXPECT_EQ(kernels(with_conv("r = Relu(y)\n return y, r")), "Conv Relu");
  EXPECT_EQ(kernels(with_conv("g = Sigmoid(y)\n r = Mul(y, g)\n return r")), "Conv Sigmoid+Mul");
  const Graph gate = parsed(with_conv("g = Sigmoid(y)\n r = Mul(y, g)\n return r"));
  const double image = 4 * 64 * 4, weights = 4 * 4 * 9 * 4;
  EXPECT_EQ(RooflineCost().metrics(gate)->bytes, (image + weights + image) + (image + image))
      << "the second kernel reads y once";
}

TEST(FusedKernels, AResidualSumOfTwoConvolutionsJoinsTheOneWithMoreWork) {
  const auto sum = [](const std::string& order, int small, int large) {
    return kernels(
        fmt::format("input x: f32[1,4,8,8]\n v = f32[4,4,{0},{0}]{{seed 1}}\n w = f32[4,4,{1},{1}]{{seed 2}}\n"
                    " a = Conv(x, v) {{strides=[1,1], dilations=[1,1], pads=[{2},{2},{2},{2}]}}\n p = Tanh(a)\n"
                    " b = Conv(x, w) {{strides=[1,1], dilations=[1,1], pads=[{3},{3},{3},{3}]}}\n"
                    " s = Add({4})\n r = Relu(s)\n return r",
                    small, large, small / 2, large / 2, order));
  };
  for (const char* order : {"p, b", "b, p"}) {
    EXPECT_EQ(sum(order, 1, 3), "Conv+Tanh Conv+Add+Relu");
    EXPECT_EQ(sum(order, 3, 1), "Conv Conv+Tanh+Add+Relu");
  }
}

TEST(FusedKernels, ProductsAndElementwiseOperatorsBeginKernels) {
  EXPECT_EQ(kernels("input x: f32[8,4]\n w = f32[4,4]{seed 1}\n c = f32[4]{seed 2}\n y = MatMul(x, w)\n"
                    " a = Add(c, y)\n r = Gelu(a)\n s = Add(r, x)\n z = Gemm(s, w)\n t = Tanh(z)\n return t"),
            "MatMul+Add+Gelu+Add Gemm+Tanh");
  EXPECT_EQ(kernels("input x: f32[8]\n input y: f32[8]\n s = Mul(x, y)\n r = Relu(s)\n t = Add(r, y)\n return t"),
            "Mul+Relu Add")
      << "the first kernel has a second value already";
  EXPECT_EQ(kernels("input x: f32[1,4,8,8]\n w = f32[4,4,2,2]{seed 1}\n"
                    " y = ConvTranspose(x, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0], output_padding=[0,0]}\n "
                    "r = Relu(y)\n"
                    " return r"),
            "ConvTranspose+Relu");
}

TEST(FusedKernels, PoolsReductionsAndConcatenationsStayAlone) {
  EXPECT_EQ(kernels(with_conv(fmt::format("p = MaxPool(y) {}\n r = Relu(p)\n return r", kWindow))),
            "Conv MaxPool Relu");
  EXPECT_EQ(kernels(with_conv("s = Softmax(y) {axis=1}\n r = Relu(s)\n return r")), "Conv Softmax Relu");
  EXPECT_EQ(kernels(with_conv("s = Concat(x, y) {axis=1}\n r = Relu(s)\n return r")), "Conv Concat Relu");
}

TEST(FusedKernels, ViewsAreInNoKernelAndEndOne) {
  EXPECT_EQ(kernels(with_conv("v = Reshape(y) {shape=[4,64]}\n r = Relu(v)\n return r")), "Conv Relu");
  EXPECT_EQ(kernels("input x: f32[4,6]\n y = Reshape(x) {shape=[24]}\n return y"), "");
}

TEST(FusedKernels, WhatDependsOnlyOnWeightsIsInNoKernel) {
  EXPECT_EQ(kernels(fmt::format("input x: f32[1,4,8,8]\n w = f32[4,4,3,3]{{seed 1}}\n s = f32[4,1,1,1]{{seed 2}}\n"
                                " c = f32[4,1,1]{{seed 3}}\n d = Relu(c)\n v = Mul(w, s)\n y = Conv(x, v) {}\n"
                                " z = Add(y, d)\n return z",
                                kConv)),
            "Conv+Add");
}

TEST(FusedKernels, SymbolsAreEqualOnlyToThemselves) {
  EXPECT_EQ(kernels("input x: f32[N,4]\n input y: f32[N,4]\n z = Relu(x)\n s = Add(z, y)\n return s"), "Relu+Add");
  EXPECT_EQ(kernels("input x: f32[N,4]\n input y: f32[1,4]\n z = Relu(x)\n s = Add(z, y)\n return s"), "Relu Add");
}

/// The same graph with its nodes in another order.
Graph shuffled(const Graph& graph, Rng& rng) {
  GraphBuilder builder;
  std::vector<ValueId> image(graph.num_values(), kNoValue);
  std::vector<NodeId> left;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.is_input()) {
      image[node.result()] = builder.input(graph.type(node.result()));
    } else {
      left.push_back(id);
    }
  }
  while (!left.empty()) {
    const size_t i = rng.below(left.size());
    const Node& node = graph.node(left[i]);
    std::vector<ValueId> operands;
    for (const ValueId operand : graph.operands(node)) operands.push_back(image[operand]);
    if (std::ranges::find(operands, kNoValue) != operands.end()) continue;
    const NodeId copy = node.is_constant() ? builder.peek().producer(builder.constant(*graph.constant(node.result())))
                                           : builder.copy(graph, node, operands).value();
    for (uint32_t r = 0; r < node.num_results; ++r) image[node.result(r)] = builder.at(copy).result(r);
    left.erase(left.begin() + static_cast<ptrdiff_t>(i));
  }
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(image[output]);
  return builder.finish(outputs);
}

/// The kernels as sets of content hashes.
std::set<std::vector<uint64_t>> identified(const Graph& graph) {
  const KernelPlan plan = planned(graph);
  std::set<std::vector<uint64_t>> out;
  for (size_t i = 0; i < plan.size(); ++i) {
    std::vector<uint64_t> hashes;
    for (const NodeId id : plan.kernel(i)) hashes.push_back(graph.node(id).hash);
    out.insert(std::move(hashes));
  }
  return out;
}

/// Every node that runs and is no view is in one kernel, of which only the last results are read outside.
void expect_groups(const Graph& graph) {
  const KernelPlan plan = planned(graph);
  std::vector<size_t> kernel_of(graph.nodes().size(), SIZE_MAX);
  NodeId last = 0;
  for (size_t i = 0; i < plan.size(); ++i) {
    EXPECT_TRUE(std::ranges::is_sorted(plan.kernel(i)));
    EXPECT_LE(last, plan.kernel(i).back());
    last = plan.kernel(i).back();
    for (const NodeId id : plan.kernel(i)) {
      EXPECT_EQ(kernel_of[id], SIZE_MAX);
      kernel_of[id] = i;
    }
  }
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    const size_t kernel = kernel_of[id];
    ASSERT_EQ(kernel != SIZE_MAX, graph.runs(node) && !is_view(node));
    if (kernel == SIZE_MAX || plan.kernel(kernel).back() == id) continue;
    EXPECT_FALSE(graph.is_output(node.result()));
    for (const NodeId reader : graph.consumers(node.result())) EXPECT_EQ(kernel_of[reader], kernel);
  }
}

TEST(FusedKernels, RandomGraphsCostNoMoreThanTheirNodesInAnyOrder) {
  const RooflineOptions options{.flops_per_second = 1e9, .bytes_per_second = 1e9, .kernel_overhead_us = 0.01};
  size_t fused = 0, moved = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomMatrixGraph(seed, 20).build();
    expect_groups(graph);
    RooflineCost cost({}, options);
    const Metrics whole = cost.metrics(graph).value();
    Metrics nodes;
    const Extents extents = extents_of(graph, {});
    for (const Node& node : graph.nodes()) {
      if (!graph.runs(node) || is_view(node)) continue;
      const Work work = work_of(graph, node, extents);
      nodes.flops += work.flops;
      nodes.bytes += work.bytes;
      nodes.kernels += 1;
      nodes.latency_us += 0.01 + 1e-3 * std::max(work.flops, work.bytes);
    }
    EXPECT_DOUBLE_EQ(whole.flops, nodes.flops);
    EXPECT_LE(whole.bytes, nodes.bytes);
    EXPECT_LE(whole.kernels, nodes.kernels);
    EXPECT_LE(whole.latency_us, nodes.latency_us * (1 + 1e-12));
    fused += whole.kernels < nodes.kernels ? 1 : 0;

    Rng rng(seed);
    const Graph other = shuffled(graph, rng);
    ASSERT_EQ(other.hash(), graph.hash());
    EXPECT_EQ(identified(other), identified(graph));
    EXPECT_DOUBLE_EQ(cost.metrics(other)->latency_us, whole.latency_us);
    moved += std::ranges::equal(other.nodes(), graph.nodes(), {}, &Node::hash, &Node::hash) ? 0 : 1;
  }
  EXPECT_GT(fused, 100U);
  EXPECT_GT(moved, 100U);
}

}  // namespace
}  // namespace isomer
