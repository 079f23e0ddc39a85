#pragma once
// Runs of complete candidates: each is exported, compared with the model's outputs, and timed in turn with another one
// on the user's engine.

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "isomer/base/temp_dir.h"
#include "isomer/base/trace.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/engine/paired.h"
#include "isomer/eval/rounding.h"
#include "isomer/onnx/model.h"
#include "isomer/plan/candidate.h"
#include "isomer/search/precision.h"

namespace isomer {

inline constexpr double kNoLoadingLimit = std::numeric_limits<double>::infinity();

/// How the outputs of a candidate differ from the model's.
struct Equivalence {
  double max_abs = 0;
  double max_rel = 0;        ///< relative to the largest element of the same output
  int inputs = 0;            ///< random inputs tried
  bool holds = true;         ///< floating-point values are within the tolerance, all others are equal
  std::string problem = {};  ///< the first difference beyond the tolerance
  /// How far the model's own outputs move at most if only the last bits of its inputs change, relative to the largest
  /// element of the same output. 0 if that was not measured, because no output differs by more than usual.
  double movement = 0;
  /// Set if the engine computes with reduced precision. The fields above are then about f32; this compares the
  /// candidate with reduced precision with the model in f32.
  std::optional<PrecisionLoss> precision = std::nullopt;
};

class EngineRuns {
 public:
  /// Keeps references to the engines and the model. `engine` is timed. `exact` (the same engine, or one of higher
  /// precision) computes outputs. `tolerance` is relative to the largest element of an output; without one, each output
  /// has that of Movement.
  EngineRuns(Engine& engine, Engine& exact, const Model& model, std::filesystem::path model_path, ShapeOptions shapes,
             uint64_t seed, std::optional<double> tolerance, TempDir folder);

  /// Returns the ratio of the latencies of `current` and `candidate` with its 95% interval; above 1, the candidate is
  /// faster. Returns an Error if the candidate cannot be exported at the model's opset, does not run, or has different
  /// outputs. A second call for the same pair runs both again, for longer, and uses all runs.
  Result<Interval> speedup(const Candidate& current, const Candidate& candidate);

  /// Times the model's own file (first) in turn with a candidate (second). After `loading_seconds`, they are not loaded
  /// again.
  Result<PairedTimes> time_against_model(const Candidate& candidate, const TimingOptions& timing,
                                         double loading_seconds = kNoLoadingLimit);
  /// Likewise, another model's file (first), which has the same inputs, but for those with defaults.
  Result<PairedTimes> time_against(const std::filesystem::path& other, const Candidate& candidate,
                                   const TimingOptions& timing, double loading_seconds = kNoLoadingLimit);
  /// Compares the outputs of a candidate with the model's on `inputs` random inputs.
  Result<Equivalence> equivalence(const Candidate& candidate, int inputs);
  /// Likewise, for the candidate as `engine` runs it, which computes in `dtype`.
  Result<PrecisionLoss> precision(const Candidate& candidate, DType dtype, int inputs);

  /// Returns a trace with one run of a candidate, which others precede. An Error if the engine traces no runs.
  Result<Trace> traced(const Candidate& candidate);

  /// Returns an Error if the machine is the reason that nothing can be measured: `candidate` cannot be written, or the
  /// engine cannot even run a single operator.
  Status check_machine(const Candidate& candidate);

  /// Returns the file of a candidate, which is written on first use.
  Result<std::filesystem::path> file(const Candidate& candidate);

  /// Number of timings that succeeded.
  size_t timed() const { return num_timed_; }

  /// Nothing is loaded or run after this deadline: candidates are then rejected with an Error.
  Deadline deadline = Deadline::never();
  TimingOptions quick_timing{.warmup = 1, .min_runs = 6, .max_runs = 400, .seconds = 0.8};
  int quick_loads = 2;
  Trace* trace = nullptr;  ///< records every comparison and measurement; nullptr: disabled
  /// Returns the model's outputs from those that its file computes; nullptr: they are the same.
  std::function<Result<std::vector<Tensor>>(std::span<const Tensor>)> from_file = nullptr;

 private:
  /// Random inputs.
  struct Draw {
    uint64_t seed = 0;
    int trial = 0;  // 0: as drawn; otherwise with their last bits changed
  };
  using Visit = std::function<Status(uint64_t seed, std::span<const Tensor> got, std::span<const Tensor> wanted)>;
  /// Visits the outputs of a candidate and the model's for so many random inputs.
  Status compare(Engine& engine, const Candidate& candidate, int inputs, const Visit& visit);
  /// Loads a file once and visits its outputs for each draw.
  Status run(Engine& engine, const std::filesystem::path& file, std::span<const Draw> draws,
             const std::function<Status(uint64_t seed, std::vector<Tensor> outputs)>& visit);
  /// Likewise the model's own file; visits the model's outputs.
  Status run_model(std::span<const Draw> draws,
                   const std::function<Status(uint64_t seed, std::vector<Tensor> outputs)>& visit);
  /// Computes the model's outputs for these draws, unless they are known.
  Status expect(std::span<const Draw> draws);
  Status in_time() const;
  /// Decides whether a comparison for the inputs of this seed holds; adds to `out`.
  Status judge(uint64_t seed, const Comparison& comparison, Equivalence& out);
  std::filesystem::path folder_of(uint64_t hash) const;
  void drop_all_but(uint64_t first, uint64_t second);

  Engine& engine_;
  Engine& exact_;
  const Model& model_;
  const std::filesystem::path model_path_;
  const ShapeOptions shapes_;
  const uint64_t seed_;
  const std::optional<double> tolerance_;
  const TempDir folder_;
  std::set<uint64_t> written_;                // hashes of candidates
  std::pair<uint64_t, uint64_t> timed_pair_;  // hashes of the candidates that timed_ compares
  PairedTimes timed_;
  size_t num_timed_ = 0;
  std::map<uint64_t, std::vector<Tensor>> expected_;  // by seed
  std::map<uint64_t, Movement> movements_;            // by seed
};

}  // namespace isomer
