#include "isomer/repro/autograph/contenders.h"

#include <algorithm>

#include "isomer/base/processor.h"
#include "isomer/engine/inputs.h"
#include "isomer/engine/paired.h"
#include "isomer/models/models.h"
#include "isomer/onnx/export.h"
#include "isomer/optimize/optimize.h"

namespace isomer {
namespace {

constexpr int kLoads = 5;
constexpr double kMaxSearchSeconds = 45;

/// Loads a contender and returns the microseconds of its runs.
Result<std::vector<double>> timed_once(const Contender& one, const std::vector<NamedTensor>& inputs) {
  ISOMER_TRY(const auto engine, make_engine("onednn", one.engine));
  ISOMER_TRY(const SessionId session, engine->load(one.file));
  ISOMER_TRY(auto times, engine->time_interleaved({{session}}, {{inputs}}, {.min_runs = 20, .seconds = 0.6}));
  return std::move(times.front());
}

}  // namespace

Result<WrittenNetwork> written_network(const std::string& name, ExperimentResult& out) {
  ISOMER_TRY(Graph graph, build_model(name));
  out.hashes[name] = fmt::format("{:016x}", graph.hash());
  ISOMER_TRY(TempDir folder, TempDir::make());
  WrittenNetwork written{std::move(folder), make_model(std::move(graph), name, 17), {}};
  written.file = written.folder.path() / "model.onnx";
  ISOMER_CHECK(export_model(written.model, written.file));
  return written;
}

Result<std::vector<ContenderTime>> timed(std::span<const Contender> contenders, const Model& model) {
  ISOMER_TRY(const std::vector<NamedTensor> inputs, random_inputs(model, {}, 1));
  std::vector<std::vector<std::vector<double>>> times(contenders.size());
  for (int load = 0; load < kLoads; ++load) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      ISOMER_TRY(times[i].emplace_back(), timed_once(contenders[i], inputs));
    }
  }
  std::vector<ContenderTime> out;
  for (const auto& of_one : times) out.push_back({median(flattened(of_one)), grouped_ratio(times.front(), of_one)});
  return out;
}

Result<WrittenGraph> write_optimized(const std::filesystem::path& model, const GraphSearch& how,
                                     const std::filesystem::path& output, const ReproOptions& options) {
  OptimizeOptions optimizing;
  optimizing.input = model;
  optimizing.output = output;
  optimizing.costs.engine = "onednn";
  optimizing.costs.engine_options.streams = how.streams;
  optimizing.costs.profile_db = model.parent_path() / "profile.db";
  optimizing.search = how.search;
  optimizing.search.time_budget_seconds = std::min(options.time_budget_seconds, kMaxSearchSeconds);
  optimizing.costs_only = how.costs_only;
  optimizing.min_speedup = 1;
  optimizing.progress = options.observer.progress;
  ISOMER_TRY(OptimizeReport report, optimize(optimizing));
  const std::string& ended = report.search.stop_reason;
  std::string out = report.improved ? fmt::format("{} steps", report.search.steps.size()) : "none";
  if (ended != "exhausted") out += fmt::format(", cut off ({})", ended);
  return WrittenGraph{std::move(out), std::move(report.search.measured)};
}

std::string built_in_runtime() {
  return fmt::format("the built-in runtime on two cores of {}; the paper runs cuDNN on an RTX 2080 Ti",
                     processor_name());
}

}  // namespace isomer
