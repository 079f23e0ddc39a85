// Tests that the first run of a plan allocates the memory that the plan reports, and that later runs allocate nothing
// except the argument tables that oneDNN makes for every launch. Replaces operator new to watch every allocation of the
// test program.

// Sanitizers have their own allocation functions, and reject replacing only some of them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "isomer/engine/onednn/testing.h"

namespace {

std::atomic<std::size_t> largest{0};  // bytes, since it was last set to 0
std::atomic<std::size_t> live{0};
std::atomic<std::size_t> max_live{0};

void raise(std::atomic<std::size_t>& most, std::size_t value) {
  for (std::size_t seen = most; seen < value && !most.compare_exchange_weak(seen, value);) {
  }
}

void* counted(std::size_t bytes, std::size_t alignment) {
  raise(largest, bytes);
  void* const block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  raise(max_live, live += ::malloc_usable_size(block));
  return block;
}

void freed(void* block) {
  live -= ::malloc_usable_size(block);
  std::free(block);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* block) noexcept { freed(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { freed(block); }
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept { freed(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept { freed(block); }

namespace isomer::onednn {
namespace {

TEST(Allocation, OfActivationsEndsWithTheFirstRun) {
  const Graph graph = graph_of(
      "input x: f32[1,16,8,8]\nw = f32[32,16,3,3]{seed 1}\nv = f32[16,32,1,1]{seed 2}\n"
      "c = Conv(x, w) {pads=[1,1,1,1]}\nr = Relu(c)\nd = Conv(r, v)\ns = Add(d, x)\n"
      "p = MaxPool(s) {kernel_shape=[2,2], strides=[2,2]}\nj = Concat(p, p) {axis=1}\n"
      "t = Reshape(j) {shape=[32,16]}\nm = f32[16,64]{seed 3}\ny = MatMul(t, m)\nz = Softmax(y) {axis=-1}\nreturn z");
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  std::vector<Tensor> outputs = plan.run(inputs).value();
  ASSERT_TRUE(plan.run(inputs, outputs).has_value());
  largest = 0;
  ASSERT_TRUE(plan.run(inputs, outputs).has_value());
  EXPECT_LE(largest, 1024U);
  largest = 0;
  ASSERT_TRUE(plan.run(inputs).has_value());
  EXPECT_GE(largest, outputs[0].bytes().size()) << "allocations are not watched";
}

TEST(Allocation, ResultsTakeTheMemoryOfEarlierOnes) {
  const Graph graph = graph_of("input x: f32[1024,1024]\ny = Relu(x)\nz = Sigmoid(y)\nreturn y, z");
  const std::vector<Tensor> inputs = inputs_of(graph);
  const Plan plan = plan_of(graph, inputs);
  std::vector<Tensor> outputs = plan.run(inputs).value();
  largest = 0;
  outputs = plan.run(inputs).value();
  EXPECT_GE(largest, outputs[0].bytes().size()) << "two runs shared their results";
  largest = 0;
  outputs = plan.run(inputs).value();
  EXPECT_LE(largest, 4096U);
}

TEST(Allocation, OfTheFirstRunIsWhatThePlanTells) {
  const char* const texts[] = {
      "input x: f32[1,16,40,40]\nw = f32[32,16,3,3]{seed 1}\nc = Conv(x, w) {pads=[1,1,1,1]}\nr = Sigmoid(c)\n"
      "p = MaxPool(r) {kernel_shape=[2,2], strides=[2,2]}\nreturn p, r",
      // A kernel of the reference executor, whose result is large.
      "input x: f32[200,300]\ny = Relu(x)\ns = Sign(y)\nz = Relu(s)\nreturn z"};
  for (const char* text : texts) {
    const Graph graph = graph_of(text);
    const std::vector<Tensor> inputs = inputs_of(graph);
    const Plan plan = plan_of(graph, inputs);
    const ActivationMemory memory = plan.memory();
    const std::size_t before = live;
    max_live = before;
    ASSERT_TRUE(plan.run(inputs).has_value());
    // The inputs exist already. In addition to activations, a run has small tables for every kernel.
    const std::size_t taken = max_live - before + memory.inputs;
    EXPECT_GE(taken, memory.total());
    EXPECT_LE(taken, memory.total() + plan.kernels().size() * 4096);
  }
}

}  // namespace
}  // namespace isomer::onednn

#endif
