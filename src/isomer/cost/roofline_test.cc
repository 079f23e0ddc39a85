#include "isomer/cost/roofline.h"

#include <gtest/gtest.h>

#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

TEST(RooflineCost, FiguresByHand) {
  // MatMul and Relu are a kernel: 2*64*128*256 + 64*256 FLOPs, (64*128 + 128*256 + 64*256)*4 bytes. MaxPool: 9*64*256
  // FLOPs, twice 64*256*4 bytes.
  const Graph graph = parsed(R"(
    input x: f32[64,128]
    w = f32[128,256]{seed 1}
    y = MatMul(x, w)
    z = Relu(y)
    v = Reshape(z) {shape=[1,64,16,16]}
    p = MaxPool(v) {kernel_shape=[3,3], strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}
    return p)");
  RooflineCost cost({}, {.flops_per_second = 1e12, .bytes_per_second = 100e9, .kernel_overhead_us = 5});
  const Metrics metrics = cost.metrics(graph).value();
  EXPECT_DOUBLE_EQ(metrics.flops, 4194304 + 16384 + 147456);
  EXPECT_DOUBLE_EQ(metrics.bytes, 229376 + 131072);
  EXPECT_DOUBLE_EQ(metrics.kernels, 2);
  EXPECT_DOUBLE_EQ(metrics.peak_bytes, 2 * 65536);
  // 4.21 us of arithmetic against 2.29 us of memory; 0.15 us against 1.31 us.
  EXPECT_DOUBLE_EQ(metrics.latency_us, 5 + 4.210688 + 5 + 1.31072);

  const std::vector<PlannedKernel> kernels = cost.kernels(graph).value();
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].nodes.size(), 2U);
  EXPECT_DOUBLE_EQ(kernels[0].us, 5 + 4.210688);
  EXPECT_EQ(graph.node(kernels[1].nodes.at(0)).op->name, "MaxPool");
  EXPECT_DOUBLE_EQ(kernels[1].us, 5 + 1.31072);
}

TEST(RooflineCost, TheDefaultsAreThoseOfTheContract) {
  const Graph graph = parsed("input x: f32[500000]\n y = Relu(x)\n return y");
  EXPECT_DOUBLE_EQ(RooflineCost().metrics(graph)->latency_us, 5 + 4e6 / 500e9 * 1e6);
}

TEST(RooflineCost, ChannelBlocksAreThoseOfTheDescribedDevice) {
  EXPECT_EQ(RooflineCost().channel_blocks(), std::vector<int64_t>{16}) << "whatever this processor prefers";
  EXPECT_EQ(RooflineCost({}, {.channel_blocks = {8}}).channel_blocks(), std::vector<int64_t>{8});
}

TEST(RooflineCost, ViewsAndWeightsCostNothing) {
  RooflineCost cost;
  const Graph view = parsed("input x: f32[4,6]\n y = Reshape(x) {shape=[24]}\n return y");
  EXPECT_EQ(cost.metrics(view)->latency_us, 0);
  EXPECT_EQ(cost.metrics(view)->kernels, 0);
  EXPECT_EQ(cost.metrics(view)->bytes, 0);
  const Graph weights = parsed(R"(
    input x: f32[2,2]
    w = f32[2,2]{seed 1}
    v = MatMul(w, w)
    r = Relu(v)
    y = Add(x, r)
    return y)");
  EXPECT_DOUBLE_EQ(cost.metrics(weights)->kernels, 1);
  EXPECT_DOUBLE_EQ(cost.metrics(weights)->flops, 4);
}

TEST(RooflineCost, SymbolsTakeTheirValues) {
  const Graph graph = parsed("input x: f32[N,3]\n y = Relu(x)\n z = Relu(y)\n return z");
  EXPECT_EQ(RooflineCost().metrics(graph)->flops, 6);
  EXPECT_EQ(RooflineCost({{"N", 5}}).metrics(graph)->flops, 30);
}

TEST(RooflineCost, TheCacheTellsApartWhatDiffers) {
  RooflineCost cost;
  const auto with_stride = [&](int stride) {
    return cost
        .metrics(parsed(fmt::format("input x: f32[1,1,8,8]\n w = f32[1,1,3,3]{{seed 1}}\n"
                                    " y = Conv(x, w) {{strides=[{0},{0}], dilations=[1,1], pads=[0,0,0,0]}}\n return y",
                                    stride)))
        ->flops;
  };
  EXPECT_DOUBLE_EQ(with_stride(1), 36 * 18);
  EXPECT_DOUBLE_EQ(with_stride(2), 9 * 18);
  EXPECT_DOUBLE_EQ(cost.metrics(parsed("input x: f32[7]\n y = Relu(x)\n return y"))->bytes, 56);
  EXPECT_DOUBLE_EQ(cost.metrics(parsed("input x: f64[7]\n y = Relu(x)\n return y"))->bytes, 112);
}

TEST(RooflineCost, OptionsAreChecked) {
  EXPECT_TRUE(check(RooflineOptions{}).has_value());
  EXPECT_FALSE(check(RooflineOptions{.flops_per_second = 0}).has_value());
  EXPECT_FALSE(check(RooflineOptions{.bytes_per_second = -1}).has_value());
  EXPECT_FALSE(check(RooflineOptions{.kernel_overhead_us = -1}).has_value());
}

}  // namespace
}  // namespace isomer
