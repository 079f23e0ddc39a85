#include "isomer/engine/onednn/rotation.h"

#include <cstring>

#include "isomer/engine/onednn/plan_state.h"
#include "isomer/engine/onednn/testing.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

Graph products() {
  return graph_of(
      "input x: f32[4,512]\nw = f32[512,1024]{seed 1}\nv = f32[1024,512]{seed 2}\na = MatMul(x, w)\nb = MatMul(a, v)\n"
      "return b");
}

TEST(Rotation, RunsTheFirstKernels) {
  FarMemory far;
  const Graph graph = products();
  std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  ASSERT_GE(plan.kernels().size(), 2U);
  Rotation rotation(plan, far, {.copies = 3, .arenas = 2, .kernels = 1});
  EXPECT_EQ(rotation.copies(), 3U);
  for (int run = 0; run < 7; ++run) {
    const auto spans = rotation.run(inputs);
    ASSERT_TRUE(spans.has_value()) << spans.error().message;
    ASSERT_EQ(spans->size(), 1U);
    EXPECT_GT(spans->front().duration, 0);
  }
  EXPECT_EQ(Rotation(plan, far, {.kernels = 100}).run(inputs)->size(), plan.kernels().size());
}

// The function is computed in the place of its operand.
TEST(Rotation, MakesOperandsOnce) {
  FarMemory far;
  const Graph graph = graph_of(
      "input x: f32[4,512]\nw = f32[512,1024]{seed 1}\na = MatMul(x, w)\nb = Softmax(a) {axis=1}\nc = ReduceMax(b) "
      "{axes=[1]}\nreturn c");
  std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  const size_t kernels = plan.kernels().size();
  ASSERT_EQ(kernels, 3U);
  Rotation rotation(plan, far, {.arenas = 2, .kernels = kernels, .makers = 1});
  for (int run = 0; run < 5; ++run) {
    const auto spans = rotation.run(inputs);
    ASSERT_TRUE(spans.has_value()) << spans.error().message;
    ASSERT_EQ(spans->size(), kernels);
    EXPECT_EQ(spans->front().duration, 0);
    EXPECT_GT(spans->back().duration, 0);
    EXPECT_EQ(rotation.outputs()[0], plan.run(inputs)->front());
  }
}

// Any numbers may stand for weights, but not for indices, for attributes or for what describes itself.
TEST(Rotation, CopiesWhatIsMoreThanNumbers) {
  FarMemory far;
  std::string indices;
  for (int i = 0; i < 1024; ++i) indices += (i == 0 ? "" : ",") + std::to_string(i % 7);
  const Graph gather =
      graph_of("input x: f32[7,2]\ni = i64[1024]{" + indices + "}\ny = Gather(x, i) {axis=0}\nreturn y");
  const Graph small = graph_of("input x: f32[4,1000]\ns = f32[1000]{seed 1}\ny = Mul(x, s)\nreturn y");
  for (const Graph* graph : {&gather, &small}) {
    std::vector<Tensor> inputs = inputs_of(*graph);
    const Plan plan = plan_of(*graph, inputs);
    Rotation rotation(plan, far, {.copies = 3, .kernels = plan.kernels().size()});
    for (int run = 0; run < 4; ++run) {
      ASSERT_TRUE(rotation.run(inputs).has_value());
      EXPECT_EQ(rotation.outputs()[0], plan.run(inputs)->front());
    }
  }
  const Graph lstm = graph_of(
      "input x: f32[3,2,32]\nw = f32[1,128,32]{seed 1}\nr = f32[1,128,32]{seed 2}\ny, h, c = LSTM(x, w, r) "
      "{hidden_size=32}\nreturn y");
  std::vector<Tensor> inputs = inputs_of(lstm);
  const Plan plan = plan_of(lstm, inputs);
  Rotation rotation(plan, far, {.copies = 3, .kernels = plan.kernels().size()});
  for (int run = 0; run < 4; ++run) EXPECT_TRUE(rotation.run(inputs).has_value());
}

TEST(Rotation, ReadsOtherNumbersInPlaceOfLargeWeights) {
  FarMemory far;
  const Graph graph = products();
  std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  const Tensor outputs = plan.run(inputs)->front();
  Rotation one(plan, far, {.kernels = plan.kernels().size()});
  ASSERT_TRUE(one.run(inputs).has_value());
  EXPECT_EQ(one.outputs()[0], outputs) << "a single copy is the original";
  Rotation two(plan, far, {.copies = 2, .kernels = plan.kernels().size()});
  ASSERT_TRUE(two.run(inputs).has_value());
  EXPECT_NE(two.outputs()[0], outputs);
}

TEST(Rotation, TakesNoMoreThanItsLimit) {
  FarMemory far;
  const Graph graph = products();
  const Plan plan = plan_of(graph, inputs_of(graph));
  EXPECT_EQ(Rotation(plan, far, {.copies = 1000, .max_bytes = size_t{15} << 20}).copies(), 3U) << "of 4 MB";
  const Graph none = graph_of("input x: f32[4]\ny = Relu(x)\nreturn y");
  EXPECT_EQ(Rotation(plan_of(none, inputs_of(none)), far, {.copies = 0}).copies(), 1U);
}

TEST(Rotation, GroupsTakeTurns) {
  FarMemory far;
  const Graph graph = products();
  std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  Rotation rotation(plan, far, {.copies = 2, .groups = 3, .rounds = 4});
  EXPECT_EQ(rotation.copies(), 2U);
  EXPECT_EQ(rotation.cycle(), 24U);
  std::string returns;
  for (size_t run = 0; run < rotation.cycle(); ++run) {
    returns += rotation.next_returns() ? '1' : '0';
    ASSERT_TRUE(rotation.run(inputs).has_value());
  }
  EXPECT_EQ(returns, "110000001100000011000000");
  EXPECT_TRUE(rotation.next_returns());
  EXPECT_EQ(Rotation(plan, far, {.copies = 2, .groups = 100, .rounds = 4, .max_bytes = size_t{17} << 20}).cycle(), 16U);
  Rotation plain(plan, far, {.copies = 2});
  EXPECT_FALSE(plain.next_returns()) << "they are always as far away";
}

TEST(Workspace, ReadsConstantsWhereItIsTold) {
  const Graph graph = products();
  std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  const Program& program = plan.state().program;
  const Tensor before = plan.run(inputs)->front();
  std::vector<std::vector<std::byte>> zeros;
  std::vector<std::byte*> addresses;
  for (const Buffer& buffer : program.buffers)
    if (buffer.place == Place::Constant) zeros.emplace_back(buffer.bytes + 64);
  for (auto& bytes : zeros)
    addresses.push_back(bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64);
  ASSERT_EQ(addresses.size(), program.constants.size());
  const ThreadScope threads(plan.threads());
  Workspace workspace(program);
  std::vector<Tensor> outputs = empty_outputs(program);
  workspace.read_constants(addresses);
  ASSERT_TRUE(workspace.run(inputs, outputs).has_value());
  EXPECT_EQ(outputs[0], Tensor::zeros(DType::Float, {4, 512}));
  addresses.clear();
  for (const ConstantData& constant : program.constants) addresses.push_back(constant.address());
  workspace.read_constants(addresses);
  outputs = empty_outputs(program);
  ASSERT_TRUE(workspace.run(inputs, outputs).has_value());
  EXPECT_EQ(outputs[0], before);
}

}  // namespace
}  // namespace isomer::onednn
