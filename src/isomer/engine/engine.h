#pragma once
// One face for everything that can run a model: loads ONNX files, runs them, times them against each other.

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
#include "isomer/ir/graph.h"
#include "isomer/ir/tensor.h"
#include "isomer/runtime/activation_memory.h"
#include "isomer/runtime/tuning_store.h"

namespace isomer {

/// A model that an engine has loaded. Never 0, never used twice by one engine.
using SessionId = uint32_t;

/// A tensor for the model's input of that name.
using NamedTensor = std::pair<std::string, Tensor>;

/// How long to time. After `warmup` runs of every session, rounds of one run of each follow: at least `min_runs`, and
/// then until `seconds` have passed or `max_runs` are reached.
struct TimingOptions {
  int warmup = 3;
  int min_runs = 10;
  int max_runs = 1000;
  double seconds = 2;
};

struct EngineOptions {
  int threads = 1;
  /// In which elements the engine computes; inputs and outputs are as the model says. Only "onednn" knows another than
  /// Float: BFloat16, where the processor has it.
  DType dtype = DType::Float;
  /// The Python with the onnxruntime package. Empty: $ISOMER_PYTHON, else the checkout's .venv, else python3.
  std::string python = {};
  /// Let ONNX Runtime optimize the graph (level "all"), or run it as it is ("disabled").
  bool optimize = true;
  /// The own runtime compiles a plan for every set of input extents; it keeps so many of each model, those that were
  /// used last. Each holds the weights in its kernels' layouts.
  size_t most_plans = 8;
  /// A call that takes longer than this (timing: beyond the time it was given) has failed. With a deadline, a call has
  /// until then and a grace: these seconds, or ten times the longest call so far.
  double timeout_seconds = 600;
  double grace_seconds = 30;
  /// The deadline from the start on, until set_deadline gives another one.
  Deadline deadline = Deadline::never();
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string name() const = 0;     ///< "ort", "onednn", "reference"
  virtual std::string version() const = 0;  ///< of what runs the model
  virtual int threads() const = 0;
  /// The processor's name.
  std::string device() const;

  /// When the work that needs the engine has to end, so that nobody waits much longer for a worker that hangs.
  void set_deadline(const Deadline& deadline) { deadline_ = deadline; }

  /// Loads a model. The file must stay until it is unloaded: an engine may read it again. An Error names the file.
  virtual Result<SessionId> load(const std::filesystem::path& onnx) = 0;
  virtual Status unload(SessionId session) = 0;

  /// Runs a model once; the outputs come in the model's order. Inputs that are not given have their defaults. Any
  /// number of threads may run models at a time, while nothing but runs goes on.
  virtual Result<std::vector<Tensor>> run(SessionId session, std::span<const NamedTensor> inputs) = 0;

  /// As run, with a span for the run and one within it for each kernel, on this track of the trace: kernels follow one
  /// another in the thread that runs the model (its helpers work within them, and are not seen). Notes tell the
  /// implementation, the layout and the name of the result, and the bytes that are read and written. An Error where the
  /// engine does not tell when its kernels run.
  virtual Result<std::vector<Tensor>> run_traced(SessionId session, std::span<const NamedTensor> inputs, Trace& trace,
                                                 size_t track);

  /// Microseconds of every run of each session (`inputs[i]` is for `sessions[i]`): lists of equal length, whose i-th
  /// entries are neighbours in time. The sessions run in turn, and each round begins with another one, so that none
  /// profits from its place.
  virtual Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId> sessions,
                                                                    std::span<const std::vector<NamedTensor>> inputs,
                                                                    const TimingOptions& options) = 0;

  /// Whether it measures to choose between ways to compute the same.
  virtual bool tunes() const { return false; }
  /// Where it finds what was measured for that in earlier runs, and keeps what it measures; before anything is loaded.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps the pointer
  virtual void keep_tunings(std::shared_ptr<TuningStore> /*store*/) {}

  /// The memory that one run of a graph on inputs of these (concrete) types takes for activations, as the engine plans
  /// it; nothing where it does not say.
  virtual Result<std::optional<ActivationMemory>> activation_memory(const Graph& graph,
                                                                    std::span<const TensorType> inputs);

  /// How the engine groups nodes into kernels; null where it does not say.
  virtual const KernelPlanner* planner() const { return nullptr; }
  /// Measures one kernel. `overhead_us` is what kernel_overhead gave, once for this engine, version, processor and
  /// number of threads.
  virtual Result<KernelTime> time_kernel(const KernelRun& run, double overhead_us);
  /// What a launch costs beyond the time that the engine itself reports for a kernel, in microseconds; negative where
  /// its report includes the reporting.
  virtual Result<double> kernel_overhead();

 protected:
  const Deadline& deadline() const { return deadline_; }

 private:
  Deadline deadline_ = Deadline::never();
};

/// The engines that make_engine knows.
const std::vector<std::string>& engine_names();

/// The engine called `name`; an Error says what it lacks (say, a Python package) and how to get it.
Result<std::unique_ptr<Engine>> make_engine(const std::string& name, const EngineOptions& options = {});

}  // namespace isomer
