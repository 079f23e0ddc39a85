#include "isomer/cost/live_memory.h"

#include <gtest/gtest.h>

#include "isomer/cost/concrete_types.h"
#include "isomer/engine/onednn/planner.h"
#include "isomer/engine/ort/planner.h"
#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

double own_runtime(const Graph& graph, bool part = false) {
  return live_bytes(graph, OnednnPlanner(16).plan(graph).value(), bytes_of_values(graph, {}), part);
}
double onnx_runtime(const Graph& graph) {
  return live_bytes(graph, OrtPlanner(16).plan(graph).value(), bytes_of_values(graph, {}), false);
}

constexpr double kOne = 4 * 8 * 8 * 4;  // bytes of f32[4,8,8]

TEST(LiveBytes, CountsWhatLivesBetweenKernels) {
  // x stays with the caller; a and b are live while b is computed, then b and c. The built-in runtime makes c in the
  // caller's tensor, which is there all the time.
  const std::string chain =
      "input x: f32[4,64]\n w = f32[64,64]{seed 1}\n a = MatMul(x, w)\n b = MatMul(a, w)\n c = MatMul(b, w)\n return c";
  EXPECT_EQ(own_runtime(parsed(chain)), 4 * 4 * 64 * 4);
  EXPECT_EQ(onnx_runtime(parsed(chain)), 3 * 4 * 64 * 4);
  EXPECT_EQ(own_runtime(parsed(chain), true), 2 * 4 * 64 * 4) << "of a part, x goes when a is made";
}

TEST(LiveBytes, LeavesOutWhatStaysWithinAKernel) {
  const std::string fused = "input x: f32[4,64]\n w = f32[64,64]{seed 1}\n a = MatMul(x, w)\n b = Relu(a)\n return b";
  EXPECT_EQ(own_runtime(parsed(fused)), 2 * 4 * 64 * 4) << "x and b";
}

TEST(LiveBytes, OverwritesWhatNobodyReadsLater) {
  const std::string head = "input x: f32[4,8,8]\n y = Neg(x)\n";
  EXPECT_EQ(own_runtime(parsed(head + "a = Tanh(y)\n b = Erf(a)\n c = Tanh(b)\n return c")), 2 * kOne);
  EXPECT_EQ(own_runtime(parsed(head + "a = Tanh(y)\n b = Erf(a)\n c = Tanh(b)\n return c, b")), 3 * kOne);
}

TEST(LiveBytes, JoinsInPlaceWhereTheEngineDoes) {
  const std::string text =
      "input x: f32[1,16,8,8]\n w = f32[16,16,1,1]{seed 1}\n v = f32[16,32,1,1]{seed 2}\n"
      "a = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}\n"
      "b = Conv(a, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}\n"
      "j = Concat(a, b) {axis=1}\n"
      "y = Conv(j, v) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}\n return y";
  constexpr double kPart = 16 * 8 * 8 * 4;
  // The caller's x and y; at first also the blocked copy of x and the joined buffer, then that buffer and y.
  EXPECT_EQ(own_runtime(parsed(text)), 5 * kPart);
  // ONNX Runtime copies: a, b and j are live at the same time.
  EXPECT_EQ(onnx_runtime(parsed(text)), 5 * kPart);
}

TEST(LiveBytes, ViewsTakeNothing) {
  const std::string text =
      "input x: f32[4,64]\n w = f32[64,64]{seed 1}\n a = MatMul(x, w)\n b = Reshape(a) {shape=[8,32]}\n"
      "v = f32[32,2]{seed 2}\n c = MatMul(b, v)\n return c";
  EXPECT_EQ(own_runtime(parsed(text)), 2 * 4 * 64 * 4 + 8 * 2 * 4);
  const std::string one = "input x: f32[4,8,8]\n j = Concat(x) {axis=0}\n c = CumSum(j) {axis=1}\n return c";
  EXPECT_EQ(own_runtime(parsed(one)), 2 * kOne) << "x and c, which are with the caller";
}

}  // namespace
}  // namespace isomer
