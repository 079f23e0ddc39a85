#pragma once
// A graph compiled for one set of input extents: oneDNN's kernels (and the reference executor's where oneDNN has none)
// over one arena.

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/engine/tuning_store.h"
#include "isomer/ir/graph.h"
#include "isomer/ops/activation_memory.h"
#include "isomer/plan/decisions.h"

namespace isomer::onednn {

class PartialRun;
class Tuner;
struct PlanState;

struct PlanOptions {
  int threads = 1;  ///< of each kernel
  /// Kernels that do not depend on each other run at the same time on up to this many streams, each in one thread.
  /// A kernel that is predicted to be faster in as many threads, or for which that is decided, runs by itself in these.
  /// More than 1: `threads` is 1.
  int streams = 1;
  bool stages = true;  ///< if false, all kernels have one thread
  /// Choose between algorithms by timing each once. If false, the plan is the same on all machines of a kind.
  bool tune = true;
  /// Element type in which convolutions and products compute and pass on their results: Float or BFloat16. Inputs and
  /// outputs always have the graph's types.
  DType dtype = DType::Float;
  Decisions decisions = {};  ///< about values of the graph

  /// Returns the largest number of threads that a kernel may have.
  int most_threads() const { return std::max(threads, streams); }
};

/// One launch of a plan.
struct PlanKernel {
  std::string name;            ///< the operators that it computes: "Conv+Relu"; "reorder" changes a layout
  std::string implementation;  ///< oneDNN's name for its code; "reference" for the reference executor's
  std::string layout;          ///< of its result
  std::string value = {};      ///< the name of its result in the graph; empty if it has none
  size_t bytes = 0;            ///< that it reads and writes; values whose extents depend on data are not counted
  int threads = 1;             ///< that run it
};

/// When a kernel ran, in microseconds since the run began, and on which stream.
struct KernelSpan {
  double start = 0;
  double duration = 0;
  size_t stream = 0;
};

/// A run with the times of its kernels.
struct TracedRun {
  std::vector<Tensor> outputs;
  std::chrono::steady_clock::time_point begin;
  std::vector<KernelSpan> kernels;  ///< in the order of Plan::kernels
};

/// Returns the version of oneDNN.
std::string library_version();

/// Fails, and gives the reason, if plans on this processor cannot compute in elements of this type.
Status check_dtype(DType dtype);

class Plan {
 public:
  /// Compiles a graph for inputs of these (concrete) types. `tuner` keeps measurements from plan to plan; nullptr: only
  /// for this plan. An Error names the node that no kernel can run.
  static Result<Plan> make(const Graph& graph, std::span<const TensorType> inputs, const PlanOptions& options,
                           const std::shared_ptr<Tuner>& tuner = nullptr);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  /// Runs the plan. Several runs may go on at the same time. Inputs must have the planned types. A run reuses a free
  /// arena, or allocates one.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) const;
  /// Likewise, into given outputs, which must have the planned types (see output_types) and not be shared. Then
  /// oneDNN's kernels allocate nothing.
  Status run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;
  /// Prepares a run in parts. The plan and the inputs must outlive it.
  Result<std::unique_ptr<PartialRun>> begin(std::span<const Tensor> inputs) const;
  /// Like run, with the times of its kernels.
  Result<TracedRun> trace(std::span<const Tensor> inputs) const;

  std::vector<PlanKernel> kernels() const;
  /// Returns the memory for activations of each concurrent run.
  ActivationMemory memory() const;
  /// Returns the types of the outputs; those that depend on data have no shape.
  std::vector<TensorType> output_types() const;
  int threads() const;
  /// Returns the number of streams that the plan uses: 1 if no kernels may run at the same time.
  size_t streams() const;
  const PlanState& state() const { return *state_; }  ///< for other uses of plans in this room

 private:
  explicit Plan(std::unique_ptr<PlanState> state);
  std::unique_ptr<PlanState> state_;
};

/// Makes a tuner to share between plans; see its constructor.
std::shared_ptr<Tuner> make_tuner(bool measure, std::shared_ptr<TuningStore> kept = nullptr);

}  // namespace isomer::onednn
