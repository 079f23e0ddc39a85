#include "isomer/cli/inspect_costs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "isomer/base/file.h"
#include "isomer/base/progress.h"
#include "isomer/base/stopwatch.h"
#include "isomer/base/table.h"
#include "isomer/cli/roofline_chart.h"
#include "isomer/engine/inputs.h"
#include "isomer/onnx/export.h"
#include "isomer/optimize/run_teams.h"
#include "isomer/plan/stored_decisions.h"
#include "isomer/report/report.h"
#include "isomer/repro/svg.h"
#include "isomer/search/divided_teams.h"
#include "isomer/search/engine_runs.h"

namespace isomer {

using nlohmann::json;

void CostChoice::add_to(CLI::App& command, CommandFiles& files) {
  command.add_flag("--costs", wanted, "Measure the kernels that the engine runs, and show the time of each");
  files
      .writes(command, "--roofline", roofline,
              "With --costs: draw the speed of each kernel below the limits of the processor, as SVG")
      ->needs("--costs");
  engine.add_to(command, files);
}

Result<std::optional<PlanFacts>> plan_facts(const CostChoice& choice, const Candidate& candidate,
                                            const SymbolValues& symbols) {
  const Progress progress("compiling a plan ...");
  ISOMER_TRY(const auto engine, choice.engine.make());
  ISOMER_TRY(const auto inputs, concrete_inputs(candidate.graph, symbols));
  const Stopwatch watch;
  ISOMER_TRY(const auto memory, engine->activation_memory(candidate, inputs));
  const double seconds = watch.seconds();
  if (!memory) return std::nullopt;
  return PlanFacts{*memory, seconds};
}

json to_json(const PlanFacts& plan) {
  json report = memory_json(plan.memory);
  report["compile_seconds"] = plan.seconds;
  return report;
}

void print_plan(const PlanFacts& plan) {
  fmt::print("\nplan: compiled in {:.2f} s, peak activations {}\n", plan.seconds, memory_str(plan.memory));
}

namespace {

CostOptions cost_options(const CostChoice& choice) {
  return {
      .engine = choice.engine.name, .engine_options = choice.engine.options, .profile_db = choice.engine.profile_db};
}

Result<Costs> costs_of(CostOptions options, const Graph& graph, const SymbolValues& symbols) {
  make_folder_of(options.profile_db);
  const auto progress = std::make_shared<Progress>("measuring kernels ...");
  return make_costs(options, graph, symbols, [progress](const std::string& line) { progress->update(line); });
}

}  // namespace

Result<ModelCosts> model_costs(const CostChoice& choice, const Candidate& candidate, const SymbolValues& symbols) {
  ISOMER_TRY(Costs made, costs_of(cost_options(choice), candidate.graph, symbols));
  if (made.kernels == nullptr)
    return fail("{} does not say how it groups nodes into kernels, so their costs are not known", made.engine->label());
  ModelCosts costs;
  ISOMER_TRY(costs.metrics, made.model->metrics(candidate));
  ISOMER_TRY(costs.kernels, made.kernels->account(candidate));
  costs.measured = made.kernels->measured();
  const EngineOptions& engine = choice.engine.options;
  if (engine.provider.empty() || engine.provider == "CPUExecutionProvider") {
    ISOMER_TRY(costs.peak, measured_peak(engine.threads));
  }
  return costs;
}

Result<StreamCosts> stream_costs(const CostChoice& choice, const std::string& file, const Model& model,
                                 const ShapeOptions& shapes) {
  ISOMER_TRY(const SymbolValues symbols, symbol_values(model, shapes));
  ISOMER_TRY(const Costs one, costs_of(cost_options(choice), model.graph, symbols));
  ISOMER_TRY(const Costs all, costs_of(with_all_threads(cost_options(choice)), model.graph, symbols));
  ISOMER_TRY(Decisions decisions, stored_decisions(model));
  const Candidate candidate(model.graph, std::move(decisions));
  ISOMER_TRY(TeamTimes times, team_times(candidate, *one.model, *all.model));
  if (!times.problem.empty()) return fail("{}", times.problem);
  ISOMER_TRY(times.inputs, concrete_inputs(model.graph, symbols));
  ISOMER_TRY(TempDir folder, TempDir::make());
  constexpr uint64_t kSeed = 1;
  EngineRuns runs(*one.engine, *one.engine, model, file, shapes, kSeed, std::nullopt, std::move(folder));
  ISOMER_TRY(const Trace run, runs.traced(candidate));
  ISOMER_TRY(const auto names, export_names(model));
  const Candidate by_engine = with_teams_of(candidate, names, kernels_in(run));
  const auto streams = static_cast<size_t>(choice.engine.options.streams);
  ISOMER_TRY(const Prediction prediction, predict(by_engine, times, *one.model, streams));
  const auto& spans = prediction.run.spans;
  return StreamCosts{.us = prediction.run.us,
                     .with_all_threads = static_cast<size_t>(
                         std::ranges::count_if(spans, [](const PredictedSpan& span) { return !span.stream; })),
                     .neighbors = times.neighbors};
}

namespace {

/// The time that a kernel would take at the processor's peak, relative to the time that it takes.
double share_of_peak(const KernelShare& kernel, const ProcessorPeak& peak) {
  const double bytes_per_second = peak.bytes_per_second(kernel.bytes / kernel.count);
  const double least = std::max(kernel.flops / peak.flops_per_second, kernel.bytes / bytes_per_second);
  return kernel.us > 0 ? 1e6 * least / kernel.us : 0;
}

json to_json(const ProcessorPeak& peak) {
  json levels = json::array();
  for (const MemoryLevel& level : peak.levels)
    levels.push_back({{"name", level.name},
                      {"bytes", std::isfinite(level.bytes) ? json(level.bytes) : json()},
                      {"bytes_per_second", level.bytes_per_second}});
  return {{"flops_per_second", peak.flops_per_second},
          {"levels", std::move(levels)},
          {"line_seconds", peak.line_seconds > 0 ? json(peak.line_seconds) : json()}};
}

json to_json(const StreamCosts& streams) {
  return {{"predicted_us", streams.us},
          {"with_all_threads", streams.with_all_threads},
          {"slowdown", streams.neighbors.slowdown},
          {"synchronization_us", streams.neighbors.synchronization_us},
          {"transfer_us_per_byte", streams.neighbors.transfer_us}};
}

std::string giga_per_second(double amount, double us) {
  return amount > 0 && us > 0 ? fmt::format("{:.1f}", 1e-3 * amount / us) : "";
}

}  // namespace

json to_json(const ModelCosts& costs) {
  json report = {{"latency_us", costs.metrics.latency_us},
                 {"flops", costs.metrics.flops},
                 {"bytes", costs.metrics.bytes},
                 {"kernels", costs.metrics.kernels},
                 {"critical_path_us", costs.metrics.critical_path_us},
                 {"peak_bytes", costs.metrics.peak_bytes},
                 {"measured", costs.measured},
                 {"by_kernel", json::array()}};
  for (const KernelShare& share : costs.kernels)
    report["by_kernel"].push_back({{"kernel", share.kernel},
                                   {"count", share.count},
                                   {"us", share.us},
                                   {"flops", share.flops},
                                   {"bytes", share.bytes},
                                   {"of_peak", costs.peak ? json(share_of_peak(share, *costs.peak)) : json()}});
  report["peak"] = costs.peak ? to_json(*costs.peak) : json();
  report["on_streams"] = costs.streams ? to_json(*costs.streams) : json();
  return report;
}

namespace {

void print_streams(const StreamCosts& streams) {
  const auto& slowdown = streams.neighbors.slowdown;
  constexpr double kMebibyte = 1 << 20;
  fmt::print(
      "on the streams: {:.1f} us predicted, with {} kernels in the threads of all streams\n"
      "while others run, kernels bound by their cores take {:.2f} times as long, those bound by memory {:.2f} times; 1 "
      "MiB of another core's results takes {:.1f} us longer to read\n",
      streams.us, streams.with_all_threads, slowdown[0][0], slowdown[1][1], kMebibyte * streams.neighbors.transfer_us);
}

}  // namespace

void print_costs(const ModelCosts& costs) {
  Table table({">us", ">count", ">GFLOP/s", ">GB/s", ">of peak", "<kernel"});
  for (const KernelShare& share : costs.kernels)
    table.row({fmt::format("{:.1f}", share.us), fmt::format("{}", share.count), giga_per_second(share.flops, share.us),
               giga_per_second(share.bytes, share.us),
               costs.peak ? fmt::format("{:.0f}%", 100 * share_of_peak(share, *costs.peak)) : "", share.kernel});
  fmt::print(
      "\n{}\n{:.1f} us in {} kernels, the longest path {:.1f} us, {} FLOPs, {} moved, peak activations {}; {} measured "
      "now\n",
      table.str(), costs.metrics.latency_us, costs.metrics.kernels, costs.metrics.critical_path_us,
      metric(costs.metrics.flops), byte_str(costs.metrics.bytes), byte_str(costs.metrics.peak_bytes), costs.measured);
  if (costs.streams) print_streams(*costs.streams);
  if (!costs.peak) return;
  fmt::print("peak of the processor: {:.0f} GFLOP/s", 1e-9 * costs.peak->flops_per_second);
  for (const MemoryLevel& level : costs.peak->levels)
    fmt::print(", {:.0f} GB/s from {}", 1e-9 * level.bytes_per_second, level.name);
  if (costs.peak->line_seconds > 0) fmt::print(", {:.0f} ns from core to core", 1e9 * costs.peak->line_seconds);
  fmt::print("\n");
}

Status write_roofline(const CostChoice& choice, const std::string& model, const ModelCosts& costs) {
  if (!costs.peak) return fail("--roofline: the kernels do not run on this processor, whose peak is not theirs");
  const Picture chart = roofline_chart(std::filesystem::path(model).filename().string(), costs.kernels, *costs.peak);
  return write_file(choice.roofline, svg_of({&chart, 1}));
}

}  // namespace isomer
