// isomer bench: measures the latency of one model or compares those of two.

#include <memory>
#include <optional>

#include "isomer/base/progress.h"
#include "isomer/base/stats.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/engine/paired.h"
#include "isomer/onnx/import.h"

namespace isomer {
namespace {

using nlohmann::json;

struct BenchOptions {
  CommandFiles files;
  std::vector<std::string> models;
  int runs = 0;
  TimingOptions timing;
  EngineChoice engine;
  InputChoice random;
  std::string trace_file;
  bool json = false;
};

/// Microseconds of every run of each model, and the ratio of two models.
struct Samples {
  std::vector<std::vector<double>> of_model;
  std::optional<Interval> ratio;
  std::vector<PrecisionLoss> losses = {};  ///< of each model, if the engine does not compute in f32
};

using Inputs = std::vector<std::vector<NamedTensor>>;  // by model

/// Loads the i-th model, runs it once and unloads it. An Error names the file.
Result<std::vector<Tensor>> run_once(const BenchOptions& options, Engine& engine, const Inputs& inputs, size_t i) {
  ISOMER_TRY(const SessionId session, engine.load(options.models[i]));
  auto outputs = in_context(options.models[i], engine.run(session, inputs[i]));
  ISOMER_CHECK(engine.unload(session));
  return outputs;
}

/// Returns the loss of each model by the engine's precision.
Result<std::vector<PrecisionLoss>> losses_of(const BenchOptions& options, Engine& engine, const Inputs& inputs) {
  std::vector<PrecisionLoss> losses;
  for (size_t i = 0; i < inputs.size() && options.engine.options.dtype != DType::Float; ++i) {
    ISOMER_TRY(const auto outputs, run_once(options, engine, inputs, i));
    ISOMER_TRY(const auto loss, options.engine.loss(options.models[i], inputs[i], outputs));
    losses.push_back(*loss);
  }
  return losses;
}

Result<Inputs> draw_inputs(const BenchOptions& options, FileUses& uses) {
  Inputs inputs;
  for (const std::string& path : options.models) {
    ISOMER_TRY(const Model model, import_model(path, uses));
    ISOMER_TRY(auto drawn, in_context(path, random_inputs(model, options.random.shapes, options.random.seed)));
    inputs.push_back(std::move(drawn));
  }
  return inputs;
}

/// Traces one more run of each model, after a first one that fills the caches.
Status trace_runs(const BenchOptions& options, Engine& engine, const Inputs& inputs) {
  Trace trace(options.models[0]);
  for (size_t i = 0; i < options.models.size(); ++i) {
    const size_t track = i == 0 ? 0 : trace.add_track(options.models[i]);
    ISOMER_TRY(const SessionId session, engine.load(options.models[i]));
    const std::string& model = options.models[i];
    ISOMER_CHECK(in_context(model, engine.run(session, inputs[i])).map([](const auto&) {}));
    ISOMER_CHECK(in_context(model, engine.run_traced(session, inputs[i], trace, track)).map([](const auto&) {}));
    ISOMER_CHECK(engine.unload(session));
  }
  return write_trace(options.trace_file, trace);
}

/// Returns the error of timing two models in turn. If a model cannot be run by itself either, its Error names the file.
Error error_of_pair(const BenchOptions& options, Engine& engine, const Inputs& inputs, const Error& error) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const auto once = run_once(options, engine, inputs, i); !once) return once.error();
  return error;
}

Result<Samples> measure(const BenchOptions& options, Engine& engine, const Inputs& inputs) {
  TimingOptions timing = options.timing;
  if (options.runs > 0) timing.min_runs = timing.max_runs = options.runs;
  const Progress progress(fmt::format("timing {} ...", fmt::join(options.models, ", ")));
  if (options.models.size() == 1) {
    ISOMER_TRY(const SessionId session, engine.load(options.models[0]));
    ISOMER_TRY(auto times, in_context(options.models[0], engine.time_interleaved({&session, 1}, inputs, timing)));
    ISOMER_TRY(auto losses, losses_of(options, engine, inputs));
    return Samples{std::move(times), std::nullopt, std::move(losses)};
  }
  const auto times = time_pair(engine, options.models[0], options.models[1], inputs[0], inputs[1], timing);
  if (!times) return tl::unexpected<Error>(error_of_pair(options, engine, inputs, times.error()));
  ISOMER_TRY(auto losses, losses_of(options, engine, inputs));
  return Samples{
      {flattened(times->first), flattened(times->second)}, times->ratio(options.random.seed), std::move(losses)};
}

json report_of(const BenchOptions& options, const Engine& engine, const Samples& measured) {
  const auto& samples = measured.of_model;
  json report = {{"schema", "isomer.bench.v1"}, {"isomer", version()},
                 {"engine", engine.name()},     {"engine_version", engine.version()},
                 {"device", engine.device()},   {"seed", options.random.seed},
                 {"models", json::array()},     {"dtype", dtype_name(options.engine.options.dtype)}};
  add_provider(report, engine);
  for (size_t i = 0; i < samples.size(); ++i) {
    report["models"].push_back({{"name", options.models[i]},
                                {"engine", engine.name()},
                                {"threads", engine.threads()},
                                {"streams", options.engine.options.streams},
                                {"runs", samples[i].size()},
                                {"median_us", median(samples[i])},
                                {"p95_us", percentile(samples[i], 0.95)}});
    if (!measured.losses.empty()) report["models"].back()["precision"] = to_json(measured.losses[i]);
  }
  if (measured.ratio) {
    const Interval& ratio = *measured.ratio;
    report["ratio"] = ratio.value;
    report["ci95"] = {ratio.low, ratio.high};
  }
  return report;
}

void print_table(const BenchOptions& options, const Engine& engine, const Samples& measured) {
  const auto& samples = measured.of_model;
  Table table({"<model", ">median us", ">p95 us", ">runs"});
  for (size_t i = 0; i < samples.size(); ++i) {
    table.row({options.models[i], fmt::format("{:.1f}", median(samples[i])),
               fmt::format("{:.1f}", percentile(samples[i], 0.95)), fmt::format("{}", samples[i].size())});
  }
  fmt::print("{}", table.str());
  for (size_t i = 0; i < measured.losses.size(); ++i)
    fmt::print("{}: {}\n", options.models[i], measured.losses[i].str());
  if (measured.ratio) {
    const Interval& ratio = *measured.ratio;
    const char* verdict = ratio.low > 1    ? "the second is faster"
                          : ratio.high < 1 ? "the first is faster"
                                           : "no significant difference";
    fmt::print("ratio {:.3f}, 95% [{:.3f}, {:.3f}]: {}\n", ratio.value, ratio.low, ratio.high, verdict);
  }
  const int streams = options.engine.options.streams;
  fmt::print("{} {}, {} thread{}{}, {}\n", engine.name(), engine.version(), engine.threads(),
             engine.threads() == 1 ? "" : "s", streams == 1 ? "" : fmt::format(", {} streams", streams),
             engine.device());
}

Result<int> bench(const BenchOptions& options, FileUses& uses) {
  ISOMER_TRY(const auto engine, options.engine.make());
  ISOMER_TRY(const Inputs inputs, draw_inputs(options, uses));
  if (!options.trace_file.empty()) ISOMER_CHECK(trace_runs(options, *engine, inputs));
  ISOMER_TRY(const auto samples, measure(options, *engine, inputs));
  ISOMER_CHECK(uses.unchanged());
  if (options.json) {
    print_json(report_of(options, *engine, samples));
  } else {
    print_table(options, *engine, samples);
  }
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("bench", "Measure the latency of a model, or compare two models");
  const auto options = std::make_shared<BenchOptions>();
  options->files
      .reads(*command, "models", options->models,
             "One or two ONNX files; two run in turn, and the ratio is first / second")
      ->required()
      ->expected(1, 2);
  command->add_option("--runs", options->runs, "Runs of each model; by default as many as --seconds allows")
      ->check(in_range(IntegerRange{.min = 1, .max = 1000000}));
  command->add_option("--seconds", options->timing.seconds, "Seconds to measure (at least 10 and at most 1000 runs)")
      ->check(in_range(NumberRange{.min = 0, .max = 3600}))
      ->capture_default_str();
  command->add_option("--warmup", options->timing.warmup, "Runs of each model before the measurement")
      ->check(in_range(IntegerRange{.min = 0, .max = 1000}))
      ->capture_default_str();
  add_trace(*command, options->files, options->trace_file,
            "Write a Chrome trace of one run of each model to this file (onednn)");
  options->engine.add_to(*command, options->files);
  options->random.add_to(*command);
  add_json(*command, options->json);
  command->footer(
      "Example: isomer bench model.onnx faster.onnx --threads 4\nA ratio above 1 means that the second model is "
      "faster.");
  command->callback([options, &exit_code] {
    exit_code = finish(options->files, [&](FileUses& uses) { return bench(*options, uses); });
  });
}

}  // namespace isomer
