// Figure 2.9d: how long do 32 convolutions take in groups of 1 to 32?

#include <filesystem>

#include "isomer/base/hash.h"
#include "isomer/base/processor.h"
#include "isomer/base/temp_dir.h"
#include "isomer/engine/inputs.h"
#include "isomer/models/layers.h"
#include "isomer/onnx/export.h"
#include "isomer/repro/taso/among_fastest.h"
#include "isomer/repro/taso/taso.h"

namespace isomer {
namespace {

constexpr int kConvolutions = 32;
constexpr int kSizes[] = {1, 2, 4, 8, 16, 32};
constexpr int kLoads = 5;

/// A stage of ResNeXt-50: each of its 32 convolutions has so many channels, on an image of this extent.
struct ResnextStage {
  const char* name;
  int64_t channels, extent;
};
constexpr ResnextStage kStages[] = {
    {"stage 1, 56x56", 4, 56}, {"stage 2, 28x28", 8, 28}, {"stage 3, 14x14", 16, 14}, {"stage 4, 7x7", 32, 7}};

/// The 32 convolutions of a stage, with `size` of them in each grouped convolution. Each of those reads its own input
/// and has its own result, so that nothing but the convolutions is timed.
Result<Model> grouped_convolutions(const ResnextStage& stage, int size) {
  Net net(1, 0);
  for (int i = 0; i < kConvolutions / size; ++i) {
    const std::string name = std::to_string(i);
    const ValueId x = net.input("x" + name, {1, stage.channels * size, stage.extent, stage.extent});
    net.output(net.conv("conv" + name, x, {.out = stage.channels * size, .kernel = 3, .pad = 1, .group = size}),
               "y" + name);
  }
  ISOMER_TRY(Graph graph, net.finish());
  return make_model(std::move(graph), "convolutions", 17);
}

/// Loads all models, and returns the microseconds of every run by model. They run in turn, so that each has the same
/// share of noise.
Result<std::vector<std::vector<double>>> timed_once(const std::vector<std::filesystem::path>& files,
                                                    const std::vector<std::vector<NamedTensor>>& inputs,
                                                    Engine& engine) {
  std::vector<SessionId> sessions;
  for (const std::filesystem::path& file : files) {
    ISOMER_TRY(const SessionId session, engine.load(file));
    sessions.push_back(session);
  }
  ISOMER_TRY(auto times, engine.time_interleaved(sessions, inputs, {.min_runs = 20, .seconds = 0.6}));
  for (const SessionId session : sessions) ISOMER_CHECK(engine.unload(session));
  return times;
}

/// The times of each model. All of them are loaded several times, because the place of data in memory changes the times
/// of one load by some percent.
Result<std::vector<LoadedRuns>> timed(const std::vector<Model>& models, Engine& engine) {
  ISOMER_TRY(const TempDir folder, TempDir::make());
  std::vector<std::filesystem::path> files;
  std::vector<std::vector<NamedTensor>> inputs;
  for (const Model& model : models) {
    files.push_back(folder.path() / fmt::format("{}.onnx", files.size()));
    ISOMER_CHECK(export_model(model, files.back()));
    ISOMER_TRY(inputs.emplace_back(), random_inputs(model, {}, 1));
  }
  std::vector<LoadedRuns> out(models.size());
  for (int load = 0; load < kLoads; ++load) {
    ISOMER_TRY(const auto times, timed_once(files, inputs, engine));
    for (size_t i = 0; i < times.size(); ++i) out[i].push_back(times[i]);
  }
  return out;
}

/// Times a stage, adds its rows and its hash to the result, and returns its curve.
Result<ChartSeries> run_stage(const ResnextStage& stage, Engine& engine, ExperimentResult& out) {
  std::vector<Model> models;
  uint64_t hash = 0;
  for (const int size : kSizes) {
    ISOMER_TRY(Model model, grouped_convolutions(stage, size));
    hash = hash_mix(hash, model.graph.hash());
    models.push_back(std::move(model));
  }
  out.hashes[fmt::format("the convolutions of {}", stage.name)] = fmt::format("{:016x}", hash);
  ISOMER_TRY(const std::vector<LoadedRuns> times, timed(models, engine));
  const std::vector<bool> fastest = among_fastest(times);
  RooflineCost roofline({}, v100().roofline);
  ChartSeries series{stage.name, {}};
  for (size_t i = 0; i < times.size(); ++i) {
    const double us = median_of(times[i]);
    ISOMER_TRY(const Metrics predicted, roofline.metrics(models[i].graph));
    out.row({stage.name, kSizes[i], kConvolutions / kSizes[i], kSizes[i] == 8 ? "TASO's choice" : "", us,
             fastest[i] ? "yes" : "", predicted.latency_us});
    series.points.push_back({static_cast<double>(i), us});
  }
  return series;
}

Result<ExperimentResult> run_groups(const ReproOptions& options) {
  ISOMER_TRY(const auto engine, make_engine("onednn"));
  ExperimentResult out{
      .columns = {{"stage of ResNeXt-50"},
                  {"convolutions in a group"},
                  {"grouped convolutions"},
                  {"published"},
                  {"measured", "us", 1},
                  {"among the fastest"},
                  {"roofline of a V100", "us", 1}},
      .differences = {{"engine", fmt::format("the built-in runtime ({}), one thread of {}; the paper runs cuDNN on a "
                                             "V100",
                                             engine->version(), processor_name())}}};
  Chart chart{.title = "32 convolutions of ResNeXt-50 in groups",
              .x = {"convolutions in a group"},
              .y = {"median time", "us", true}};
  for (const int size : kSizes) chart.categories.push_back(std::to_string(size));
  for (const ResnextStage& stage : kStages) {
    options.observer.progress(stage.name);
    ISOMER_TRY(ChartSeries series, run_stage(stage, *engine, out));
    chart.series.push_back(std::move(series));
  }
  out.pictures = {std::move(chart)};
  out.notes = {
      "The published curve is not printed as numbers. It has neither 1 nor 32 as its best size, and TASO chooses "
      "groups of 8.",
      "The paper does not say which convolutions it times; these are the 3x3 convolutions of all four stages.",
      "The time is that of the convolutions, each with its own input and result. A measured time changes with what "
      "else the machine does.",
      fmt::format("Among the fastest: the size with the lowest median, and those whose times have a ratio to its times "
                  "with a 95% interval that reaches down to 1. All sizes were loaded {} times and ran in turn.",
                  kLoads)};
  return out;
}

}  // namespace

Experiment taso_groups() { return {run_groups}; }

}  // namespace isomer
