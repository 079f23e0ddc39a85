#pragma once
// What one run of a program has for itself: the arena, boxes, and oneDNN's views of them. A workspace serves one run
// after the other, never two at a time.

#include <dnnl.hpp>
#include <span>
#include <vector>

#include "isomer/runtime/onednn/plan.h"
#include "isomer/runtime/onednn/program.h"

namespace isomer::onednn {

class Workspace {
 public:
  /// Keeps a reference. Makes everything that a run needs.
  explicit Workspace(const Program& program);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Runs all kernels with the threads that are set. `inputs` are concrete and as planned; `outputs` have room for
  /// what the program's output buffers hold (boxed ones are replaced). `spans` gets one for each kernel; null: none.
  Status run(std::span<const Tensor> inputs, std::span<Tensor> outputs, std::vector<KernelSpan>* spans = nullptr) {
    return run_first(program_.kernels.size(), inputs, outputs, spans);
  }
  /// The same with the first so many kernels alone.
  Status run_first(size_t kernels, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                   std::vector<KernelSpan>* spans);

  /// From now on, constants are read at these addresses, in the order of the program's.
  void read_constants(std::span<std::byte* const> addresses);

  // For kernels.
  std::byte* address(const Location& location) const;
  const Graph& graph() const { return program_.graph; }
  /// The tensor of a box.
  Tensor& box(const Location& location);

 private:
  struct Rebound {
    dnnl_memory_t memory;
    Location at;
  };
  void bind(const Kernel& kernel);
  Status launch(size_t kernel);

  const Program& program_;
  AlignedBytes arena_;
  dnnl::stream stream_;
  std::vector<Tensor> boxes_;
  std::vector<std::byte*> constants_;
  std::vector<std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
  std::vector<dnnl::memory> memories_;
  std::vector<std::vector<dnnl_exec_arg_t>> arguments_;  // by kernel
  std::vector<Rebound> rebound_;                         // arguments that point into the caller's tensors
  std::vector<Rebound> constant_;                        // arguments that are constants
};

}  // namespace isomer::onednn
