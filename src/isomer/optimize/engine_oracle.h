#pragma once
// Judges candidates by running them: whole models, exported and timed in turn on the user's engine.

#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "isomer/base/temp_dir.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/onnx/model.h"
#include "isomer/search/oracle.h"
#include "isomer/verify/compare.h"

namespace isomer {

/// How a graph's outputs differ from the model's.
struct Equivalence {
  double max_abs = 0;
  double max_rel = 0;   ///< relative to the largest element of the same output
  int inputs = 0;       ///< random inputs tried
  bool holds = true;    ///< reals within the tolerance, everything else equal
  std::string problem;  ///< the first difference beyond it
};

class EngineOracle : public Oracle {
 public:
  /// Keeps references to the engine and the model. `tolerance` is relative to the largest element of an output.
  EngineOracle(Engine& engine, const Model& model, std::filesystem::path model_path, ShapeOptions shapes, uint64_t seed,
               double tolerance, TempDir folder);

  /// Rejects (with an Error) what cannot be exported at the model's opset, does not run, or whose outputs differ.
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override;

  /// Timings in turn of the model's own file and a graph: microseconds of each run.
  Result<std::vector<std::vector<double>>> time_against_model(const Graph& graph, const TimingOptions& timing);
  /// The outputs of a graph against the model's, for `inputs` random inputs.
  Result<Equivalence> equivalence(const Graph& graph, int inputs);

  TimingOptions quick_timing{.warmup = 2, .min_runs = 9, .max_runs = 400, .seconds = 0.6};

 private:
  Result<SessionId> session(const Graph& graph);
  Result<std::vector<Tensor>> run(SessionId session, uint64_t seed);
  void drop_all_but(uint64_t first, uint64_t second);

  Engine& engine_;
  const Model& model_;
  const std::filesystem::path model_path_;
  const ShapeOptions shapes_;
  const uint64_t seed_;
  const double tolerance_;
  const TempDir folder_;
  std::map<uint64_t, SessionId> sessions_;  // by graph hash
  std::optional<SessionId> original_;
};

}  // namespace isomer
