#include "isomer/repro/contenders.h"

#include <algorithm>

#include "isomer/engine/inputs.h"
#include "isomer/engine/paired.h"
#include "isomer/grad/training_network.h"
#include "isomer/models/models.h"
#include "isomer/onnx/defaults.h"
#include "isomer/onnx/export.h"
#include "isomer/optimize/optimize.h"

namespace isomer {
namespace {

/// Loads a contender and returns the microseconds of its runs.
Result<std::vector<double>> timed_once(const Contender& one, const std::vector<NamedTensor>& inputs,
                                       const TimingOptions& timing) {
  if (one.run) return one.run(timing);
  ISOMER_TRY(const auto engine, make_engine("onednn", one.engine));
  ISOMER_TRY(const SessionId session, engine->load(one.file));
  ISOMER_TRY(auto times, engine->time_interleaved({{session}}, {{inputs}}, timing));
  return std::move(times.front());
}

/// Writes a model, and adds its hash to the result.
Result<WrittenNetwork> written_model(Model model, const std::string& name, int batch, ExperimentResult& out) {
  out.hashes[batch == 1 ? name : fmt::format("{}, batch {}", name, batch)] = fmt::format("{:016x}", model.graph.hash());
  ISOMER_TRY(TempDir folder, TempDir::make());
  WrittenNetwork written{std::move(folder), std::move(model), {}};
  written.file = written.folder.path() / "model.onnx";
  ISOMER_CHECK(export_model(written.model, written.file));
  return written;
}

}  // namespace

Result<WrittenNetwork> written_network(const std::string& name, int batch, ExperimentResult& out) {
  ISOMER_TRY(Graph graph, build_model(name, batch));
  return written_model(make_model(std::move(graph), name, kNetworkOpset), name, batch, out);
}

Result<WrittenNetwork> written_training(const std::string& name, int batch, ExperimentResult& out) {
  ISOMER_TRY(TrainingNetwork network, training_network(name, batch, 0, Sgd{}));
  const Model step = make_model(std::move(network.graph), name + "-training", kNetworkOpset);
  return written_model(with_defaults(step, network.initial), name, batch, out);
}

Result<std::vector<ContenderTime>> timed(std::span<const Contender> contenders, const Model& model,
                                         const ContenderTiming& timing) {
  ISOMER_TRY(const std::vector<NamedTensor> inputs, random_inputs(model, {}, 1));
  std::vector<std::vector<std::vector<double>>> times(contenders.size());
  for (int load = 0; load < timing.loads; ++load) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      ISOMER_TRY(times[i].emplace_back(), timed_once(contenders[i], inputs, timing.each));
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
  optimizing.search.time_budget_seconds = std::min(options.time_budget_seconds, how.max_seconds);
  optimizing.costs_only = how.costs_only;
  optimizing.min_speedup = 1;
  optimizing.progress = options.observer.progress;
  ISOMER_TRY(OptimizeReport report, optimize(optimizing));
  const std::string& ended = report.search.stop_reason;
  std::string out = report.improved ? fmt::format("{} steps", report.search.steps.size()) : "none";
  if (ended != "exhausted") out += fmt::format(", cut off ({})", ended);
  return WrittenGraph{std::move(out), std::move(report.search.measured)};
}

std::string interval_text(const Interval& interval) {
  return fmt::format("[{:.2f}, {:.2f}]", interval.low, interval.high);
}

}  // namespace isomer
