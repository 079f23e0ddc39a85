#pragma once
// One run of a program: its memory (the arena, boxes, and oneDNN's views of them) and the streams that run its kernels.
// A workspace serves one run at a time.

#include <atomic>
#include <chrono>
#include <dnnl.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
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

  /// Runs all kernels, with the current number of threads if they are not on streams. `inputs` have the planned types;
  /// `outputs` have space for the program's output buffers (boxed ones are replaced). `spans` gets one entry per
  /// kernel; nullptr: disabled.
  Status run(std::span<const Tensor> inputs, std::span<Tensor> outputs, std::vector<KernelSpan>* spans = nullptr) {
    return run_some(0, program_.kernels.size(), inputs, outputs, spans);
  }
  /// Likewise, but runs only kernels [begin, end). For a program on several streams, these are all.
  Status run_some(size_t begin, size_t end, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                  std::vector<KernelSpan>* spans);

  /// Runs kernels from `begin` on until so many microseconds have passed; returns the first one that is left, or the
  /// number of kernels. For a program on several streams, runs all. Kernels before `begin` must have run with the same
  /// inputs and outputs, and nothing since.
  Result<size_t> run_from(size_t begin, double us, std::span<const Tensor> inputs, std::span<Tensor> outputs);

  /// Calls this before each kernel of a run on several streams, in the thread of its stream: for tests.
  void disturb(std::function<void(size_t kernel)> disturbance) { disturbance_ = std::move(disturbance); }

  /// Runs several streams in this many threads from now on: for tests.
  void run_in(size_t threads) { team_ = threads; }

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
  void bind_inputs(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  void take_boxes(std::span<Tensor> outputs);
  Status launch(size_t kernel, size_t stream);
  Status launch_alone(size_t kernel);
  Status run_kernels(size_t begin, size_t end, std::vector<KernelSpan>* spans);

  // On several streams.
  using Clock = std::chrono::steady_clock;
  /// Kernels that run side by side, or one kernel with several threads.
  struct Stage {
    bool alone = false;
    size_t streams = 0;             // that it has kernels on: the first ones
    std::vector<size_t> ends = {};  // by stream: the number of kernels up to its end
  };
  /// When a run began, and where the times of its kernels go.
  struct Run {
    Clock::time_point start;
    std::vector<KernelSpan>* spans;
    double now() const { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); }
  };
  void divide_into_stages();
  Status run_streams(std::vector<KernelSpan>* spans);
  void run_some_streams(const Stage& stage, size_t thread, size_t threads, const Run& run);
  void run_next(size_t stream, const Run& run);
  bool is_ready(size_t kernel) const;
  Status caught_launch(size_t kernel, size_t stream);
  void fail_with(size_t kernel, const Status& status);

  const Program& program_;
  AlignedBytes arena_;
  std::vector<dnnl::stream> streams_;
  std::vector<Tensor> boxes_;
  std::vector<std::byte*> constants_;
  std::vector<std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
  std::vector<dnnl::memory> memories_;
  std::vector<std::vector<dnnl_exec_arg_t>> arguments_;  // by kernel
  std::vector<Rebound> rebound_;                         // arguments that refer to the caller's tensors
  std::vector<Rebound> constant_;                        // arguments that are constants

  std::vector<std::vector<uint32_t>> waits_;  // by kernel: the kernels of other streams that end before it
  std::vector<std::atomic<uint32_t>> ended_;  // by kernel: the last run in which it has ended
  std::vector<Stage> stages_;
  std::vector<size_t> positions_;  // by stream: the next kernel of the current run
  uint32_t run_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex failing_;
  size_t failed_kernel_ = 0;   // the first one; guarded by failing_
  Status failure_;             // of that kernel
  std::exception_ptr thrown_;  // guarded by failing_
  std::function<void(size_t)> disturbance_;
  size_t team_ = 1;               // threads of a stage with several streams
  std::atomic<size_t> done_ = 0;  // how many of them have left the current stage
};

}  // namespace isomer::onednn
