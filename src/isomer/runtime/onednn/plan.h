#pragma once
// A graph compiled for one set of input extents: kernels of oneDNN (and the reference executor's where it has none)
// over one arena.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"
#include "isomer/runtime/activation_memory.h"
#include "isomer/runtime/tuning_store.h"

namespace isomer::onednn {

class Tuner;
struct PlanState;

struct PlanOptions {
  int threads = 1;
  /// Choose between algorithms by timing them (each once); else the plan is the same on every machine of a kind.
  bool tune = true;
  /// In which elements convolutions and products compute and hand on what they made: Float or BFloat16. Inputs and
  /// outputs have the graph's types in any case.
  DType dtype = DType::Float;
};

/// One launch of a plan.
struct PlanKernel {
  std::string name;            ///< the operators that it computes: "Conv+Relu"; "reorder" changes a layout
  std::string implementation;  ///< oneDNN's name for its code; "reference" for the reference executor's
  std::string layout;          ///< of its result
  std::string value = {};      ///< the name of its result in the graph; empty where it has none
  size_t bytes = 0;            ///< that it reads and writes; of what depends on data, none
};

/// When a kernel ran, in microseconds since the run began.
struct KernelSpan {
  double start = 0;
  double duration = 0;
};

/// A run with the times of its kernels.
struct TracedRun {
  std::vector<Tensor> outputs;
  std::chrono::steady_clock::time_point begin;
  std::vector<KernelSpan> kernels;  ///< in the order of Plan::kernels
};

/// The version of oneDNN.
std::string library_version();

/// Fails, and says why, where plans on this processor cannot compute in elements of this type.
Status check_dtype(DType dtype);

class Plan {
 public:
  /// Compiles a graph for inputs of these (concrete) types. `tuner` remembers measurements from plan to plan; null:
  /// only for this one. An Error names the node that no kernel can run.
  static Result<Plan> make(const Graph& graph, std::span<const TensorType> inputs, const PlanOptions& options,
                           const std::shared_ptr<Tuner>& tuner = nullptr);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  /// Runs; any number of runs at a time. Inputs are as planned. The first run of each that go on at a time allocates
  /// its arena, later ones take one that is free.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) const;
  /// The same into given outputs, which must have the planned types (see output_types) and not be shared. Kernels of
  /// oneDNN allocate nothing then.
  Status run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;
  /// As run, with the times of its kernels.
  Result<TracedRun> trace(std::span<const Tensor> inputs) const;

  std::vector<PlanKernel> kernels() const;
  /// What each of the runs that go on at a time takes for activations.
  ActivationMemory memory() const;
  /// Types of the outputs; those that depend on data have no shape.
  std::vector<TensorType> output_types() const;
  int threads() const;
  const PlanState& state() const { return *state_; }  ///< for what else this room does with plans

 private:
  explicit Plan(std::unique_ptr<PlanState> state);
  std::unique_ptr<PlanState> state_;
};

/// A tuner to share between plans; as its constructor.
std::shared_ptr<Tuner> make_tuner(bool measure, std::shared_ptr<TuningStore> kept = nullptr);

}  // namespace isomer::onednn
