#pragma once
// The memory of one run of a program: the arena, boxes, and oneDNN's views of them. A workspace serves one run at a
// time.

#include <dnnl.hpp>
#include <span>
#include <vector>

#include "isomer/engine/onednn/plan.h"
#include "isomer/engine/onednn/program.h"

namespace isomer::onednn {

class Workspace {
 public:
  /// Keeps a reference. Allocates everything that a run needs.
  explicit Workspace(const Program& program);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Runs all kernels with the current number of threads. `inputs` have the planned types; `outputs` have space for the
  /// program's output buffers (boxed ones are replaced). `spans` gets one entry per kernel; nullptr: disabled.
  Status run(std::span<const Tensor> inputs, std::span<Tensor> outputs, std::vector<KernelSpan>* spans = nullptr) {
    return run_first(program_.kernels.size(), inputs, outputs, spans);
  }
  /// Likewise, but runs only the first `kernels` kernels.
  Status run_first(size_t kernels, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                   std::vector<KernelSpan>* spans);

  /// Sets the addresses of the constants for all later runs, in the order of the program's constants.
  void read_constants(std::span<std::byte* const> addresses);

  // For kernels.
  std::byte* address(const Location& location) const;
  const Graph& graph() const { return program_.graph; }
  /// Returns the tensor of a box.
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
  std::vector<Rebound> rebound_;                         // arguments that refer to the caller's tensors
  std::vector<Rebound> constant_;                        // arguments that are constants
};

}  // namespace isomer::onednn
