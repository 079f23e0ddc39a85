#include "isomer/engine/onednn/partial_run.h"

#include <gmock/gmock.h>

#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

// The kernel after a boxed value reads it in another part.
constexpr const char* kBoxed = R"(
  input x: f32[4,8]
  input s: i64[2]
  r = Relu(x)
  y = Opaque(r, s) {@op_type="Reshape", @domain="", @opset=13, @instance=0, @captures=0}: f32[8,4]
  m = MatMul(y, r)
  q = Softmax(m) {axis=1}
  p = MatMul(q, m)
  return p, y, q
)";

std::vector<Tensor> boxed_inputs(uint64_t seed) {
  return {random_tensor(DType::Float, {4, 8}, seed), Tensor::ints({2}, {8, 4})};
}

TEST(PartialRun, HasTheOutputsOfAWholeRun) {
  const Graph graph = graph_of(kBoxed);
  const std::vector first = boxed_inputs(1), second = boxed_inputs(2);
  const Plan plan = plan_of(graph, first);
  const auto one = plan.begin(first).value(), other = plan.begin(second).value();
  // Each part is one kernel. Two runs of a plan take turns.
  size_t parts = 0;
  for (bool ended = false; !ended; ++parts) {
    ended = one->part(0).value();
    ASSERT_EQ(other->part(0).value(), ended);
  }
  EXPECT_EQ(parts, plan.kernels().size());
  EXPECT_GT(plan.kernels().size(), 3);
  EXPECT_EQ(one->outputs(), plan.run(first).value());
  EXPECT_EQ(other->outputs(), plan.run(second).value());
  const auto whole = plan.begin(first).value();
  EXPECT_TRUE(whole->part(1e9).value());
  EXPECT_EQ(whole->outputs(), one->outputs());
}

TEST(PartialRun, DoesNotPauseOnStreams) {
  const Graph graph = graph_of(R"(
  input x: f32[64,64]
  a = MatMul(x, x)
  b = Softmax(x) {axis=1}
  c = MatMul(b, x)
  y = MatMul(a, c)
  return y
)");
  const std::vector inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs, {.streams = 2, .stages = false, .tune = false});
  ASSERT_EQ(plan.streams(), 2);
  const auto run = plan.begin(inputs).value();
  EXPECT_TRUE(run->part(0).value());
  EXPECT_EQ(run->outputs(), plan.run(inputs).value());
}

TEST(PartialRun, ErrorsNameWhatIsWrong) {
  const Graph graph = graph_of(R"(
  input x: f32[4,8]
  input s: i64[2]
  r = Relu(x)
  y = Opaque(r, s) {@op_type="Reshape", @domain="", @opset=13, @instance=0, @captures=0}: f32[A,B]
  return y
)");
  const std::vector<Tensor> bad = {random_tensor(DType::Float, {4, 8}, 1), Tensor::ints({2}, {5, 5})};
  const Plan plan = plan_of(graph, bad);
  const auto run = plan.begin(bad).value();
  auto ended = run->part(0);
  while (ended && !*ended) ended = run->part(0);
  ASSERT_FALSE(ended.has_value());
  EXPECT_THAT(ended.error().message, testing::HasSubstr("node 'y' (Reshape): "));
  const std::vector good = boxed_inputs(2);
  EXPECT_EQ(plan.run(good).value(), run_reference(graph, good).value());
  const auto wrong = plan.begin({bad.data(), 1});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, testing::HasSubstr("2 inputs"));
}

}  // namespace
}  // namespace isomer::onednn
