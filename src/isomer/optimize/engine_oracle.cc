#include "isomer/optimize/engine_oracle.h"

#include <algorithm>

#include "isomer/onnx/export.h"

namespace isomer {
namespace {

/// Adds one run's comparison to what is known.
void account(const Comparison& comparison, std::span<const Tensor> expected, double tolerance, Equivalence& out) {
  for (size_t i = 0; i < comparison.outputs.size(); ++i) {
    const OutputComparison& row = comparison.outputs[i];
    const bool close = row.problem.empty() && row.not_finite == 0 &&
                       (is_real(expected[i].dtype()) ? row.max_rel <= tolerance : row.beyond == 0);
    out.max_abs = std::max(out.max_abs, row.max_abs);
    out.max_rel = std::max(out.max_rel, row.max_rel);
    if (!close && out.holds) {
      out.holds = false;
      out.problem = fmt::format("output {}: {}", i, row.str());
    }
  }
  ++out.inputs;
}

}  // namespace

EngineOracle::EngineOracle(Engine& engine, const Model& model, std::filesystem::path model_path, ShapeOptions shapes,
                           uint64_t seed, double tolerance, TempDir folder)
    : engine_(engine),
      model_(model),
      model_path_(std::move(model_path)),
      shapes_(std::move(shapes)),
      seed_(seed),
      tolerance_(tolerance),
      folder_(std::move(folder)) {}

Result<Interval> EngineOracle::speedup(const Graph& current, const Graph& candidate) {
  drop_all_but(current.hash(), candidate.hash());
  ISOMER_TRY(const Equivalence same, equivalence(candidate, 1));
  if (!same.holds) return fail("the outputs differ: {}", same.problem);
  ISOMER_TRY(const SessionId before, session(current));
  ISOMER_TRY(const SessionId after, session(candidate));
  ISOMER_TRY(const auto inputs, random_inputs(model_, shapes_, seed_));
  const SessionId sessions[] = {before, after};
  const std::vector<NamedTensor> both[] = {inputs, inputs};
  ISOMER_TRY(const auto times, engine_.time_interleaved(sessions, both, quick_timing));
  return paired_ratio(times[0], times[1], seed_);
}

Result<std::vector<std::vector<double>>> EngineOracle::time_against_model(const Graph& graph,
                                                                          const TimingOptions& timing) {
  if (!original_) {
    ISOMER_TRY(original_, engine_.load(model_path_));
  }
  ISOMER_TRY(const SessionId after, session(graph));
  ISOMER_TRY(const auto inputs, random_inputs(model_, shapes_, seed_));
  const SessionId sessions[] = {*original_, after};
  const std::vector<NamedTensor> both[] = {inputs, inputs};
  return engine_.time_interleaved(sessions, both, timing);
}

Result<Equivalence> EngineOracle::equivalence(const Graph& graph, int inputs) {
  if (!original_) {
    ISOMER_TRY(original_, engine_.load(model_path_));
  }
  ISOMER_TRY(const SessionId id, session(graph));
  Equivalence out;
  for (int i = 0; i < inputs; ++i) {
    ISOMER_TRY(const auto expected, run(*original_, seed_ + static_cast<uint64_t>(i)));
    ISOMER_TRY(const auto got, run(id, seed_ + static_cast<uint64_t>(i)));
    ISOMER_TRY(const Comparison comparison, compare_outputs(got, expected, {tolerance_, 0}));
    account(comparison, expected, tolerance_, out);
  }
  return out;
}

Result<SessionId> EngineOracle::session(const Graph& graph) {
  if (const auto found = sessions_.find(graph.hash()); found != sessions_.end()) return found->second;
  const auto path = folder_.path() / fmt::format("{:016x}.onnx", graph.hash());
  ISOMER_CHECK(export_model(model_.with(graph), path));
  ISOMER_TRY(const SessionId id, engine_.load(path));
  sessions_[graph.hash()] = id;
  return id;
}

Result<std::vector<Tensor>> EngineOracle::run(SessionId session, uint64_t seed) {
  ISOMER_TRY(const auto inputs, random_inputs(model_, shapes_, seed));
  return engine_.run(session, inputs);
}

void EngineOracle::drop_all_but(uint64_t first, uint64_t second) {
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    if (at->first == first || at->first == second) {
      ++at;
      continue;
    }
    // A session that cannot be unloaded only costs memory; its files go all the same.
    (void)engine_.unload(at->second);
    std::error_code ignored;
    std::filesystem::remove(folder_.path() / fmt::format("{:016x}.onnx", at->first), ignored);
    std::filesystem::remove(folder_.path() / fmt::format("{:016x}.onnx.data", at->first), ignored);
    at = sessions_.erase(at);
  }
}

}  // namespace isomer
