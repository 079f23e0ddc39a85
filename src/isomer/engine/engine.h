#pragma once
// The common interface of everything that can run a model: loads ONNX files, runs them, and times them against each
// other.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/base/trace.h"
#include "isomer/engine/kernels.h"
#include "isomer/engine/neighbor_times.h"
#include "isomer/engine/tuning_store.h"
#include "isomer/ir/graph.h"
#include "isomer/ir/tensor.h"
#include "isomer/ops/activation_memory.h"
#include "isomer/plan/candidate.h"

namespace isomer {

/// A model that an engine has loaded. Never 0, and never reused by one engine.
using SessionId = uint32_t;

/// A tensor for the model's input of that name.
using NamedTensor = std::pair<std::string, Tensor>;

/// How long to time. After `warmup` runs of every session, there are rounds of one run of each: at least `min_runs`,
/// then more until `seconds` have passed or `max_runs` are reached.
struct TimingOptions {
  int warmup = 3;
  int min_runs = 10;
  int max_runs = 1000;
  double seconds = 2;
};

struct EngineOptions {
  int threads = 1;
  /// "onednn": kernels that do not depend on each other run at the same time on up to this many streams, and large
  /// ones run by themselves in as many threads. `threads` is 1 if there are several.
  int streams = 1;
  /// With several streams: whether large kernels run by themselves. If false, all run on streams, in one thread each.
  bool stages = true;
  /// Element type in which the engine computes; inputs and outputs keep the model's types. Types other than Float are
  /// only supported by "onednn": BFloat16, if the processor has it.
  DType dtype = DType::Float;
  /// The Python interpreter with the engine's package (onnxruntime, openvino). If empty: $ISOMER_PYTHON, else the
  /// checkout's .venv, else python3.
  std::string python = {};
  /// "ort": the execution provider of ONNX Runtime that runs the model. If empty: the CPU's.
  std::string provider = {};
  /// Whether ONNX Runtime optimizes the graph (level "all") or runs it as it is ("disabled").
  bool optimize = true;
  /// The built-in runtime compiles a plan for every set of input extents. It keeps this many per model, the most
  /// recently used ones. Each holds the weights in its kernels' layouts.
  size_t max_plans = 8;
  /// A call fails if it takes longer than this (for timing: longer than this beyond its time budget). If there is a
  /// deadline, a call fails after the deadline plus a grace period: `grace_seconds`, or ten times the longest call so
  /// far if that is longer.
  double timeout_seconds = 600;
  double grace_seconds = 30;
  /// The initial deadline, until set_deadline changes it.
  Deadline deadline = Deadline::never();
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string name() const = 0;     ///< "ort", "openvino", "onednn", "reference"
  virtual std::string version() const = 0;  ///< of the software that runs the model; measurements hold for one version
  /// The execution provider that runs the model, for an engine that has several; else empty.
  virtual std::string provider() const { return {}; }
  /// Returns its name for messages that depend on the provider: "engine 'ort' with the provider CUDA...".
  std::string label() const;
  virtual int threads() const = 0;  ///< of each kernel
  /// Returns the processor's name.
  std::string device() const;

  /// Sets the time when the work that needs the engine must end, so that a worker that hangs is not waited for much
  /// longer.
  void set_deadline(const Deadline& deadline) { deadline_ = deadline; }

  /// Loads a model. The file must exist until the model is unloaded: an engine may read it again. An Error names the
  /// file.
  virtual Result<SessionId> load(const std::filesystem::path& onnx) = 0;
  virtual Status unload(SessionId session) = 0;

  /// Runs a model once; returns the outputs in the model's order. Inputs that are not given have their defaults.
  /// Several threads may run models at the same time, as long as no other function is called.
  virtual Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) = 0;

  /// Like run, but records a span for the run and one within it for each kernel, on this track of the trace. Kernels
  /// follow one another (the helper threads of a kernel are not shown). Those of further streams are on tracks of their
  /// own. Notes give the implementation, the layout and the name of the result, the bytes that are read and
  /// written, and the threads that run it. An Error if the engine does not report when its kernels run.
  virtual Result<std::vector<Tensor>> run_traced(SessionId session, std::span<const NamedTensor> inputs, Trace& trace,
                                                 size_t track);

  /// Returns the microseconds of every run of each session (`inputs[i]` is for `sessions[i]`), as lists of equal length
  /// whose i-th entries are adjacent in time. The sessions run in turn, and each round begins with a different one, so
  /// that none benefits from its position. Long runs may be divided into parts that take turns; pauses do not count.
  virtual Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                                    std::span<const std::vector<NamedTensor>> inputs,
                                                                    const TimingOptions& options) = 0;

  /// Returns whether the engine measures to choose between equivalent implementations.
  virtual bool tunes() const { return false; }
  /// Sets where the engine finds such measurements of earlier runs and stores new ones. Call it before anything is
  /// loaded, and before `planner`.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps the pointer
  virtual void keep_tunings(std::shared_ptr<TuningStore> /*store*/) {}

  /// Returns the memory for activations in one run of a candidate on inputs of these (concrete) types, from the
  /// engine's plan; nothing if the engine does not report it.
  virtual Result<std::optional<ActivationMemory>> activation_memory(const Candidate& candidate,
                                                                    std::span<const TensorType> inputs);

  /// Returns how the engine groups nodes into kernels; nullptr if it does not report it.
  virtual const KernelPlanner* planner() const { return nullptr; }
  /// Returns the numbers of channels per block in the layouts that its kernels prefer on this processor; empty if they
  /// are not known.
  virtual std::vector<int64_t> channel_blocks() const { return {}; }
  /// Measures one kernel. `overhead_us` is the result of kernel_overhead, which is needed once per engine, version,
  /// processor and number of threads.
  virtual Result<KernelTime> time_kernel(const KernelRun& run, double overhead_us);
  /// Measures several kernels; an engine may save time by running them in turn. Returns the results in the order of
  /// `runs`; that of a kernel that cannot be measured is an Error.
  virtual std::vector<Result<KernelTime>> time_kernels(std::span<const KernelRun> runs, double overhead_us);
  /// Returns the number of kernels that one call of time_kernels should measure at most.
  virtual size_t kernels_in_turn() const { return 1; }
  /// Returns the cost of a launch, in microseconds, in addition to the time that the engine itself reports for a
  /// kernel. Negative if the reported time includes the reporting.
  virtual Result<double> kernel_overhead();
  /// Measures how kernels on two cores slow each other down; takes about two seconds and 256 MiB. An Error if the
  /// engine has no streams, or if there is only one core.
  virtual Result<NeighborTimes> neighbor_times();

 protected:
  const Deadline& deadline() const { return deadline_; }

 private:
  Deadline deadline_ = Deadline::never();
};

/// Returns the names that make_engine accepts.
const std::vector<std::string>& engine_names();
/// Likewise, of those that models are optimized for.
const std::vector<std::string>& optimized_engine_names();

/// Fails if there is no engine called `name`, or if it lacks one of the options.
Status check_engine_options(const std::string& name, const EngineOptions& options);
/// Returns the engine called `name`. An Error says what is missing (for example, a Python package) and how to get it.
Result<std::unique_ptr<Engine>> make_engine(const std::string& name, const EngineOptions& options = {});

}  // namespace isomer
