// Once a plan has run, running it again asks for no memory but the tables of arguments that oneDNN makes for every
// launch. Watches every allocation of the test program by new.

// Sanitizers have their own allocation functions, and mind when only some of them are replaced.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <atomic>
#include <cstdlib>
#include <new>

#include "isomer/runtime/onednn/testing.h"

namespace {

std::atomic<std::size_t> largest{0};  // bytes, since it was last set to 0

void* counted(std::size_t bytes, std::size_t alignment) {
  for (std::size_t seen = largest; seen < bytes && !largest.compare_exchange_weak(seen, bytes);) {
  }
  void* const block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

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

}  // namespace
}  // namespace isomer::onednn

#endif
