// Compares the planned memory with the memory that runs access.

#include "isomer/engine/onednn/memory.h"

#include <cstring>
#include <set>

#include "isomer/engine/onednn/canonical.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/testing.h"
#include "isomer/engine/onednn/workspace.h"
#include "isomer/plan/arena.h"

namespace isomer::onednn {
namespace {

Program program_of(const Graph& graph, std::span<const Tensor> inputs) {
  const auto tuner = std::make_shared<Tuner>(false);
  return lower(canonicalize(graph, types_of(inputs)).value(), tuner, {}).value();
}

/// Returns the end of the last byte of the arena that a run writes, found only by reading the memory: no byte that is
/// written keeps the value of both fillings.
size_t high_water(const Program& program, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  Workspace workspace(program);
  std::byte* arena = nullptr;
  for (BufferId id = 0; id < program.buffers.size(); ++id)
    if (program.buffers[id].place == Place::Arena) arena = workspace.address({id}) - program.buffers[id].index;
  size_t end = 0;
  for (const int filling : {0x5a, 0xa5}) {
    std::memset(arena, filling, program.arena_bytes);
    EXPECT_TRUE(workspace.run(inputs, outputs).has_value());
    for (size_t i = program.arena_bytes; i > end; --i)
      if (arena[i - 1] != std::byte(filling)) end = i;
  }
  return end;
}

/// Returns the end of the last buffer that is not scratch memory: kernels may use less scratch memory than they
/// request.
size_t end_of_activations(const Program& program) {
  std::set<BufferId> scratch;
  for (const Kernel& kernel : program.kernels)
    for (const Argument& argument : kernel.arguments)
      if (argument.number == DNNL_ARG_SCRATCHPAD) scratch.insert(argument.at.buffer);
  size_t end = 0;
  for (BufferId id = 0; id < program.buffers.size(); ++id)
    if (program.buffers[id].place == Place::Arena && !scratch.contains(id))
      end = std::max(end, program.buffers[id].index + program.buffers[id].bytes);
  return end;
}

size_t byte_sum(std::span<const Tensor> tensors) {
  size_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.bytes().size();
  return sum;
}

constexpr const char* kChain = R"(
  input x: f32[1,16,20,20]
  w = f32[16,16,3,3]{seed 1}
  a = Conv(x, w) {pads=[1,1,1,1]}
  b = Relu(a)
  c = Conv(b, w) {pads=[1,1,1,1]}
  d = Add(c, b)
  p = MaxPool(d) {kernel_shape=[2,2], strides=[2,2]}
  return p)";
constexpr const char* kBranches = R"(
  input x: f32[1,32,9,9]
  w = f32[16,32,1,1]{seed 1}
  v = f32[16,16,3,3]{seed 2}
  a = Conv(x, w)
  b = Conv(a, v) {pads=[1,1,1,1]}
  c = Sigmoid(b)
  j = Concat(a, b, c) {axis=1}
  g = GlobalAveragePool(j)
  f = Flatten(g) {axis=1}
  m = f32[48,10]{seed 3}
  y = MatMul(f, m)
  return y, c)";
constexpr const char* kAttention = R"(
  input x: f32[24,32]
  w = f32[32,32]{seed 1}
  q0 = MatMul(x, w)
  q1 = Reshape(q0) {shape=[24,4,8]}
  q = Transpose(q1) {perm=[1,0,2]}
  k = Transpose(q1) {perm=[1,2,0]}
  s = MatMul(q, k)
  p = Softmax(s) {axis=-1}
  o = MatMul(p, q)
  return o)";

TEST(Memory, IsWhatARunTouches) {
  for (const char* text : {kChain, kBranches, kAttention}) {
    const Graph graph = graph_of(text);
    const auto inputs = inputs_of(graph);
    std::vector<Tensor> outputs = run_reference(graph, inputs).value();
    for (Tensor& output : outputs) output = Tensor::zeros(output.dtype(), output.dims());
    const Program program = program_of(graph, inputs);
    const ActivationMemory memory = activation_memory(program);
    const size_t touched = high_water(program, inputs, outputs);
    EXPECT_LE(touched, memory.arena) << text;
    EXPECT_GE(touched, end_of_activations(program)) << text;
    EXPECT_LE(memory.arena, end_of_activations(program) + memory.scratch + 2 * kArenaAlignment) << text;
    EXPECT_EQ(memory.inputs, byte_sum(inputs));
    EXPECT_EQ(memory.outputs, byte_sum(outputs));
    EXPECT_EQ(memory.results, 0U);
    EXPECT_EQ(memory.total(), memory.arena + memory.inputs + memory.outputs);
  }
}

TEST(Memory, TellsScratchAndWhatTheReferenceMakes) {
  const Graph graph = graph_of("input x: f32[3,40]\ny = Atan(x)\nz = Relu(y)\nreturn z");
  const ActivationMemory atan = activation_memory(program_of(graph, inputs_of(graph)));
  EXPECT_EQ(atan.results, sizeof(float) * 3 * 40);
  EXPECT_EQ(atan.scratch, 0U);
  const Graph chain = graph_of(kChain);
  const Program program = program_of(chain, inputs_of(chain));
  size_t most = 0;
  for (const Kernel& kernel : program.kernels) {
    if (!kernel.primitive) continue;
    const auto* scratch =
        dnnl_primitive_desc_query_md(kernel.primitive.get_primitive_desc(), dnnl_query_scratchpad_md, 0);
    most = std::max(most, scratch == nullptr ? 0 : dnnl_memory_desc_get_size(scratch));
  }
  EXPECT_EQ(activation_memory(program).scratch, most);
  EXPECT_LE(most, program.arena_bytes);
}

TEST(Memory, OfWhatDependsOnDataIsNotCounted) {
  const Graph graph = graph_of("input x: f32[6]\nn = NonZero(x)\nreturn n");
  const ActivationMemory memory = activation_memory(program_of(graph, inputs_of(graph)));
  EXPECT_EQ(memory.total(), 6 * sizeof(float));
}

}  // namespace
}  // namespace isomer::onednn
