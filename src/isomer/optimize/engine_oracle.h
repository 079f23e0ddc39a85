#pragma once
// Judges candidates by running them: whole models, exported and timed in turn on the user's engine.

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "isomer/base/temp_dir.h"
#include "isomer/base/trace.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/engine/paired.h"
#include "isomer/onnx/model.h"
#include "isomer/optimize/precision.h"
#include "isomer/search/oracle.h"
#include "isomer/verify/compare.h"

namespace isomer {

/// How a graph's outputs differ from the model's.
struct Equivalence {
  double max_abs = 0;
  double max_rel = 0;        ///< relative to the largest element of the same output
  int inputs = 0;            ///< random inputs tried
  bool holds = true;         ///< reals within the tolerance, everything else equal
  std::string problem = {};  ///< the first difference beyond it
  /// Where the engine computes in fewer bits: all above is about f32, this about the graph in fewer bits against the
  /// model in f32.
  std::optional<PrecisionLoss> precision = std::nullopt;
};

class EngineOracle : public Oracle {
 public:
  /// Keeps references to the engines and the model. `engine` tells times, `exact` (the same, or in more bits) outputs.
  /// `tolerance` is relative to the largest element of an output.
  EngineOracle(Engine& engine, Engine& exact, const Model& model, std::filesystem::path model_path, ShapeOptions shapes,
               uint64_t seed, double tolerance, TempDir folder);

  /// Rejects (with an Error) what cannot be exported at the model's opset, does not run, or whose outputs differ. Asked
  /// again about the pair that it was asked about last, it runs more and answers from all runs together.
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override;

  /// Timings in turn of the model's own file (first) and a graph (second).
  Result<PairedTimes> time_against_model(const Graph& graph, const TimingOptions& timing);
  /// The outputs of a graph against the model's, for `inputs` random inputs.
  Result<Equivalence> equivalence(const Graph& graph, int inputs);
  /// The same for what `engine` makes of the graph, which computes in `dtype`.
  Result<PrecisionLoss> precision(const Graph& graph, DType dtype, int inputs);

  /// An Error where it is the machine's fault that nothing can be measured: `graph` cannot be written, or the engine
  /// does not even run a single operator.
  Status check_machine(const Graph& graph);

  /// Timings in turn that succeeded.
  size_t timed() const { return num_timed_; }

  /// Nothing is loaded or run after this: then a graph is rejected with an Error.
  Deadline deadline = Deadline::never();
  TimingOptions quick_timing{.warmup = 1, .min_runs = 6, .max_runs = 400, .seconds = 0.8};
  int quick_loads = 2;
  Trace* trace = nullptr;  ///< gets every comparison and measurement; null: nobody

 private:
  /// The file of a graph, written when it is asked for first.
  Result<std::filesystem::path> file(const Graph& graph);
  Result<std::vector<Tensor>> run(Engine& engine, const std::filesystem::path& file, uint64_t seed);
  /// The model's outputs for a seed, computed once.
  Result<std::vector<Tensor>> expected(uint64_t seed);
  std::filesystem::path folder_of(uint64_t graph_hash) const;
  void drop_all_but(uint64_t first, uint64_t second);

  Engine& engine_;
  Engine& exact_;
  const Model& model_;
  const std::filesystem::path model_path_;
  const ShapeOptions shapes_;
  const uint64_t seed_;
  const double tolerance_;
  const TempDir folder_;
  std::set<uint64_t> written_;                // graph hashes
  std::pair<uint64_t, uint64_t> timed_pair_;  // hashes of the graphs that timed_ is about
  PairedTimes timed_;
  size_t num_timed_ = 0;
  std::map<uint64_t, std::vector<Tensor>> expected_;  // by seed
};

}  // namespace isomer
