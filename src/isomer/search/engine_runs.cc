#include "isomer/search/engine_runs.h"

#include <algorithm>

#include "isomer/base/hash.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/ops/registry.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer {
namespace {

/// The share of the time of a measurement for the first one of a pair, which suffices for most candidates: they are
/// clearly slower, or clearly faster.
constexpr double kFirstLook = 0.3;

}  // namespace

EngineRuns::EngineRuns(Engine& engine, Engine& exact, const Model& model, std::filesystem::path model_path,
                       ShapeOptions shapes, uint64_t seed, std::optional<double> tolerance, TempDir folder)
    : engine_(engine),
      exact_(exact),
      model_(model),
      model_path_(std::move(model_path)),
      shapes_(std::move(shapes)),
      seed_(seed),
      tolerance_(tolerance),
      folder_(std::move(folder)) {}

Result<Interval> EngineRuns::speedup(const Candidate& current, const Candidate& candidate) {
  const std::pair pair{current.hash(), candidate.hash()};
  TimingOptions timing = quick_timing;
  if (pair != timed_pair_) {
    drop_all_but(current.hash(), candidate.hash());
    ISOMER_TRY(const Equivalence same, equivalence(candidate, 1));
    if (!same.holds) return fail("the outputs differ: {}", same.problem);
    timed_pair_ = pair;
    timed_ = {};
    timing.seconds *= kFirstLook;
  }
  TraceScope scope(trace, "time in turn", "measurement");
  ISOMER_TRY(const auto before, file(current));
  ISOMER_TRY(const auto after, file(candidate));
  ISOMER_TRY(const auto inputs, random_inputs(model_, shapes_, seed_));
  ISOMER_TRY(PairedTimes times, time_pair(engine_, before, after, inputs, inputs, timing, quick_loads, deadline));
  timed_.add(std::move(times));
  ++num_timed_;
  const Interval ratio = timed_.ratio(seed_);
  scope.note("ratio", ratio.value);
  return ratio;
}

Result<PairedTimes> EngineRuns::time_against_model(const Candidate& candidate, const TimingOptions& timing,
                                                   double loading_seconds) {
  return time_against(model_path_, candidate, timing, loading_seconds);
}

Result<PairedTimes> EngineRuns::time_against(const std::filesystem::path& other, const Candidate& candidate,
                                             const TimingOptions& timing, double loading_seconds) {
  const TraceScope scope(trace, "time against another model", "measurement");
  ISOMER_TRY(const auto after, file(candidate));
  ISOMER_TRY(const auto inputs, random_inputs(model_, shapes_, seed_));
  return time_pair(engine_, other, after, inputs, inputs, timing, kLoads, Deadline::after(loading_seconds));
}

Result<Equivalence> EngineRuns::equivalence(const Candidate& candidate, int inputs) {
  const TraceScope scope(trace, "compare outputs", "measurement");
  std::map<uint64_t, Comparison> found;  // by seed
  const auto visit = [&](uint64_t seed, std::span<const Tensor> got, std::span<const Tensor> wanted) {
    return compare_outputs(got, wanted, kAnyReals).map([&](Comparison one) { found[seed] = std::move(one); });
  };
  ISOMER_CHECK(compare(exact_, candidate, inputs, visit));
  Equivalence out{.inputs = inputs};
  for (const auto& [seed, comparison] : found) {
    if (out.holds) ISOMER_CHECK(judge(seed, comparison, out));
  }
  return out;
}

Status EngineRuns::judge(uint64_t seed, const Comparison& comparison, Equivalence& out) {
  const std::vector<Tensor>& expected = expected_.at(seed);
  Movement& movement = movements_[seed];
  const auto move = [&](Movement& more) {
    const TraceScope scope(trace, "change last bits of inputs", "measurement");
    const std::vector<Draw> draw{{seed, more.trials() + 1}};
    return run_model(draw, [&](uint64_t, const std::vector<Tensor>& moved) { return more.account(moved, expected); });
  };
  for (size_t i = 0; i < expected.size(); ++i) {
    const OutputComparison& row = comparison.outputs[i];
    ISOMER_TRY(const bool holds, differs_by_rounding(i, comparison, tolerance_, movement, move));
    const bool noise = holds && !tolerance_ && !row.within(Movement::kLargestTolerance);
    if (noise) continue;
    out.max_abs = std::max(out.max_abs, row.max_abs);
    out.max_rel = std::max(out.max_rel, row.max_rel);
    if (!row.within(tolerance_.value_or(Movement::kTolerance))) out.movement = std::max(out.movement, movement[i]);
    if (holds) continue;
    out.holds = false;
    out.problem = fmt::format("output {}: {}", i, row.str());
    if (movement.trials() > 0)
      out.problem += fmt::format(", and max rel {:.3g} if only the last bits of inputs change", movement[i]);
    break;
  }
  return {};
}

Result<Trace> EngineRuns::traced(const Candidate& candidate) {
  constexpr int kWarmup = 3;
  ISOMER_CHECK(in_time());
  ISOMER_TRY(const auto path, file(candidate));
  ISOMER_TRY(const auto inputs, random_inputs(model_, shapes_, seed_));
  ISOMER_TRY(const SessionId session, engine_.load(path));
  Status run = in_time();
  for (int i = 0; i < kWarmup && run; ++i) {
    run = engine_.run(session, inputs).map([](const std::vector<Tensor>&) {});
    if (run) run = in_time();
  }
  Trace out("stream 1");
  if (run) run = engine_.run_traced(session, inputs, out, 0).map([](const std::vector<Tensor>&) {});
  ISOMER_CHECK(engine_.unload(session));
  ISOMER_CHECK(run);
  return out;
}

Result<PrecisionLoss> EngineRuns::precision(const Candidate& candidate, DType dtype, int inputs) {
  PrecisionLoss loss{.dtype = dtype};
  const auto visit = [&](uint64_t, std::span<const Tensor> got, std::span<const Tensor> wanted) {
    return loss.account(got, wanted);
  };
  ISOMER_CHECK(compare(engine_, candidate, inputs, visit));
  return loss;
}

Status EngineRuns::check_machine(const Candidate& candidate) {
  ISOMER_CHECK(file(candidate).map([](const std::filesystem::path&) {}));
  ISOMER_TRY(const Graph relu, parse_graph("input x: f32[1]\n y = Relu(x)\n return y", find_op));
  const auto path = folder_.path() / "relu.onnx";
  ISOMER_CHECK(export_model(make_model(relu, "relu", 17), path));
  ISOMER_TRY(const SessionId session, exact_.load(path));
  const auto outputs = exact_.run(session, std::vector<NamedTensor>{{"x", Tensor::floats({1}, {1})}});
  ISOMER_CHECK(exact_.unload(session));
  return outputs.map([](const std::vector<Tensor>&) {});
}

Status EngineRuns::in_time() const { return deadline.passed() ? fail("no time is left to measure it") : Status(); }

std::filesystem::path EngineRuns::folder_of(uint64_t hash) const {
  return folder_.path() / fmt::format("{:016x}", hash);
}

Result<std::filesystem::path> EngineRuns::file(const Candidate& candidate) {
  const uint64_t hash = candidate.hash();
  auto path = folder_of(hash) / "model.onnx";
  if (written_.contains(hash)) return path;
  std::error_code error;
  std::filesystem::create_directory(path.parent_path(), error);
  ISOMER_TRY(const Model model, with_candidate(model_, candidate));
  ISOMER_CHECK(export_model(model, path));
  written_.insert(hash);
  return path;
}

Status EngineRuns::compare(Engine& engine, const Candidate& candidate, int inputs, const Visit& visit) {
  ISOMER_TRY(const auto path, file(candidate));
  std::vector<Draw> draws;
  for (int i = 0; i < inputs; ++i) draws.push_back({.seed = seed_ + static_cast<uint64_t>(i)});
  ISOMER_CHECK(expect(draws));
  return run(engine, path, draws,
             [&](uint64_t seed, const std::vector<Tensor>& got) { return visit(seed, got, expected_.at(seed)); });
}

Status EngineRuns::run(Engine& engine, const std::filesystem::path& file, std::span<const Draw> draws,
                       const std::function<Status(uint64_t seed, std::vector<Tensor> outputs)>& visit) {
  ISOMER_CHECK(in_time());
  ISOMER_TRY(const SessionId session, engine.load(file));
  const auto run_one = [&](const Draw& draw) -> Status {
    ISOMER_CHECK(in_time());
    ISOMER_TRY(auto inputs, random_inputs(model_, shapes_, draw.seed));
    if (draw.trial > 0) inputs = with_last_bits_changed(inputs, hash_mix(draw.seed, static_cast<uint64_t>(draw.trial)));
    ISOMER_TRY(auto outputs, engine.run(session, inputs));
    return visit(draw.seed, std::move(outputs));
  };
  Status status;
  for (const Draw& draw : draws) {
    status = run_one(draw);
    if (!status) break;
  }
  ISOMER_CHECK(engine.unload(session));
  return status;
}

Status EngineRuns::run_model(std::span<const Draw> draws,
                             const std::function<Status(uint64_t seed, std::vector<Tensor> outputs)>& visit) {
  return run(exact_, model_path_, draws, [&](uint64_t seed, std::vector<Tensor> outputs) -> Status {
    if (from_file) {
      ISOMER_TRY(outputs, from_file(outputs));
    }
    return visit(seed, std::move(outputs));
  });
}

Status EngineRuns::expect(std::span<const Draw> draws) {
  std::vector<Draw> missing;
  std::ranges::remove_copy_if(draws, std::back_inserter(missing),
                              [&](const Draw& draw) { return expected_.contains(draw.seed); });
  if (missing.empty()) return {};
  return run_model(missing, [&](uint64_t seed, std::vector<Tensor> outputs) -> Status {
    expected_[seed] = std::move(outputs);
    return {};
  });
}

void EngineRuns::drop_all_but(uint64_t first, uint64_t second) {
  std::erase_if(written_, [&](uint64_t hash) {
    if (hash == first || hash == second) return false;
    std::error_code ignored;
    std::filesystem::remove_all(folder_of(hash), ignored);
    return true;
  });
}

}  // namespace isomer
